/*
 * The same program as x86_64.S, for AArch64:
 *     as aarch64.S -o stub.o && objcopy -O binary -j .text stub.o aarch64.bin
 * System calls are those of include/uapi/asm-generic/unistd.h in Linux.
 */
    .set    SYS_write, 64
    .set    SYS_readlinkat, 78
    .set    SYS_exit, 93
    .set    SYS_execve, 221
    .set    AT_FDCWD, -100
    .set    AT_EXECFN, 31
    .set    PATH_BYTES, 4096
    .set    SLOT_BYTES, 4096

    .text
    .globl  _start
image:
    .byte   0x7f
    .ascii  "ELF"
    .byte   2, 1, 1, 0
    .quad   0
    .short  3, 183                      /* ET_DYN, AArch64 */
    .long   1
    .quad   _start - image
    .quad   headers - image
    .quad   0
    .long   0
    .short  64, 56, 3, 64, 0, 0
headers:
    .long   1, 5
    .quad   0, 0, 0
    .quad   end - image, end - image, 0x10000
    .long   2, 4
    .quad   dynamic - image, dynamic - image, dynamic - image
    .quad   dynamic_end - dynamic, dynamic_end - dynamic, 8
    .long   0x6474e551, 6
    .quad   0, 0, 0, 0, 0, 16
dynamic:
    .quad   0x6ffffffb, 0x08000000
    .quad   0, 0
dynamic_end:

_start:
    ldr     x0, [sp]                    /* argc */
    add     x20, sp, #8                 /* argv */
    add     x21, x20, x0, lsl #3
    add     x21, x21, #8                /* envp */
    sub     sp, sp, #(PATH_BYTES + SLOT_BYTES)
    sub     sp, sp, #16
    mov     x19, sp                     /* the path */
    mov     x0, #AT_FDCWD
    adr     x1, self
    mov     x2, x19
    mov     x3, #PATH_BYTES
    mov     x8, #SYS_readlinkat
    svc     #0
    mov     x22, x0                     /* its length */
    sub     x1, x0, #1
    cmp     x1, #(PATH_BYTES - 1)
    b.lo    cut

    mov     x1, x21
1:  ldr     x0, [x1], #8
    cbnz    x0, 1b
2:  ldp     x0, x2, [x1], #16
    cbz     x0, lost
    cmp     x0, #AT_EXECFN
    b.ne    2b
    mov     x22, #0
3:  ldrb    w0, [x2, x22]
    cbz     w0, cut
    strb    w0, [x19, x22]
    add     x22, x22, #1
    cmp     x22, #PATH_BYTES
    b.lo    3b
    b       lost

cut:
    adr     x1, slot
    ldrb    w0, [x1]
    cmp     w0, #'/'
    csel    x22, xzr, x22, eq
1:  cbz     x22, append
    sub     x2, x22, #1
    ldrb    w0, [x19, x2]
    cmp     w0, #'/'
    b.eq    append
    mov     x22, x2
    b       1b
append:
    add     x2, x19, x22
    mov     x3, #(SLOT_BYTES - 1)
1:  ldrb    w0, [x1], #1
    strb    w0, [x2]
    cbz     w0, run
    add     x2, x2, #1
    subs    x3, x3, #1
    b.ne    1b
    strb    wzr, [x2]
run:
    mov     x0, x19
    mov     x1, x20
    mov     x2, x21
    mov     x8, #SYS_execve
    svc     #0

    adr     x1, cannot
    mov     x2, #(cannot_end - cannot)
    bl      say
    mov     x1, x19
    mov     x2, #0
1:  ldrb    w0, [x1, x2]
    cbz     w0, 2f
    add     x2, x2, #1
    b       1b
2:  bl      say
    adr     x1, newline
    mov     x2, #1
    bl      say
    b       exit
lost:
    adr     x1, nowhere
    mov     x2, #(nowhere_end - nowhere)
    bl      say
exit:
    mov     x0, #1
    mov     x8, #SYS_exit
    svc     #0
say:
    mov     x0, #2
    mov     x8, #SYS_write
    svc     #0
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
