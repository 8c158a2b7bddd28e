/*
 * A program that becomes the program it points at, as a symbolic link would have it: wheels hold no links.
 *
 * It finds the folder that it lies in, appends the text of the link, and runs that with the arguments as they are, so
 * that argv[0] keeps the name of the link. It has no libc, no interpreter and nothing to relocate.
 *
 * The ELF headers are written out here (System V gABI, chapters 4 and 5), so that the bytes do not depend on a linker:
 *     as x86_64.S -o stub.o && objcopy -O binary -j .text stub.o x86_64.bin
 * System calls are those of arch/x86/entry/syscalls/syscall_64.tbl in Linux.
 */
    .set    SYS_write, 1
    .set    SYS_execve, 59
    .set    SYS_exit, 60
    .set    SYS_readlink, 89
    .set    AT_EXECFN, 31
    .set    PATH_BYTES, 4096
    .set    SLOT_BYTES, 4096

    .text
    .globl  _start
image:
    .byte   0x7f
    .ascii  "ELF"
    .byte   2, 1, 1, 0                  /* 64 bits, little-endian, version 1, System V */
    .quad   0
    .short  3, 62                       /* ET_DYN, x86-64 */
    .long   1
    .quad   _start - image              /* entry */
    .quad   headers - image             /* program headers */
    .quad   0                           /* no section headers */
    .long   0
    .short  64, 56, 3, 64, 0, 0
headers:
    .long   1, 5                        /* PT_LOAD, readable and executable: the whole file */
    .quad   0, 0, 0
    .quad   end - image, end - image, 0x1000
    .long   2, 4                        /* PT_DYNAMIC: says that this is a program, DF_1_PIE */
    .quad   dynamic - image, dynamic - image, dynamic - image
    .quad   dynamic_end - dynamic, dynamic_end - dynamic, 8
    .long   0x6474e551, 6               /* PT_GNU_STACK: no code on the stack */
    .quad   0, 0, 0, 0, 0, 16
dynamic:
    .quad   0x6ffffffb, 0x08000000      /* DT_FLAGS_1, DF_1_PIE */
    .quad   0, 0
dynamic_end:

_start:
    movq    (%rsp), %rax                /* argc */
    leaq    8(%rsp), %r12               /* argv */
    leaq    8(%r12,%rax,8), %r13        /* envp */
    subq    $(PATH_BYTES + SLOT_BYTES + 16), %rsp
    movq    %rsp, %rbx                  /* the path */
    leaq    self(%rip), %rdi
    movq    %rbx, %rsi
    movl    $PATH_BYTES, %edx
    movl    $SYS_readlink, %eax
    syscall
    movq    %rax, %rcx                  /* its length */
    leaq    -1(%rcx), %rax
    cmpq    $(PATH_BYTES - 1), %rax
    jb      cut                         /* from 1 to PATH_BYTES - 1 */

    /* No /proc: take the name that the kernel was given. It is behind the environment. */
    movq    %r13, %rsi
1:  movq    (%rsi), %rax
    addq    $8, %rsi
    testq   %rax, %rax
    jnz     1b
2:  movq    (%rsi), %rax
    movq    8(%rsi), %rdx
    addq    $16, %rsi
    testq   %rax, %rax
    jz      lost
    cmpq    $AT_EXECFN, %rax
    jne     2b
    xorl    %ecx, %ecx
3:  movb    (%rdx,%rcx), %al
    testb   %al, %al
    jz      cut
    movb    %al, (%rbx,%rcx)
    incq    %rcx
    cmpq    $PATH_BYTES, %rcx
    jb      3b
    jmp     lost

    /* Keep what stands up to the last slash; nothing, where the link leads to a path from the root. */
cut:
    leaq    slot(%rip), %rsi
    cmpb    $'/', (%rsi)
    jne     1f
    xorl    %ecx, %ecx
1:  testq   %rcx, %rcx
    jz      append
    cmpb    $'/', -1(%rbx,%rcx)
    je      append
    decq    %rcx
    jmp     1b
append:
    leaq    (%rbx,%rcx), %rdi
    movl    $(SLOT_BYTES - 1), %edx
1:  movb    (%rsi), %al
    movb    %al, (%rdi)
    testb   %al, %al
    jz      run
    incq    %rsi
    incq    %rdi
    decl    %edx
    jnz     1b
    movb    $0, (%rdi)
run:
    movq    %rbx, %rdi
    movq    %r12, %rsi
    movq    %r13, %rdx
    movl    $SYS_execve, %eax
    syscall

    /* It came back, so it cannot be run: say what, and why not to look further. */
    leaq    cannot(%rip), %rsi
    movl    $(cannot_end - cannot), %edx
    call    say
    movq    %rbx, %rsi
    xorl    %edx, %edx
1:  cmpb    $0, (%rsi,%rdx)
    je      2f
    incl    %edx
    jmp     1b
2:  call    say
    leaq    newline(%rip), %rsi
    movl    $1, %edx
    call    say
    jmp     exit
lost:
    leaq    nowhere(%rip), %rsi
    movl    $(nowhere_end - nowhere), %edx
    call    say
exit:
    movl    $1, %edi
    movl    $SYS_exit, %eax
    syscall
say:
    movl    $2, %edi
    movl    $SYS_write, %eax
    syscall
    ret

self:
    .asciz  "/proc/self/exe"
cannot:
    .ascii  "cannot run "
cannot_end:
newline:
    .ascii  "\n"
nowhere:
    .ascii  "cannot find the folder that this program lies in\n"
nowhere_end:

    .balign 16
slot:
    .ascii  "rock-matrix stub: the text of a link goes here"
    .zero   SLOT_BYTES - (. - slot)
end:
