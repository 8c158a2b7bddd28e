// Stands for python.exe below Wine: hands its arguments, folder and environment to a Python of this machine and ends as
// that does. Wine starts programs of this machine too, but does not wait for them.
#include <stdio.h>
#include <wchar.h>
#include <windows.h>
#include <shellapi.h>

static void put(FILE *file, const wchar_t *text) {
    char bytes[65536];
    int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL, NULL);
    fwrite(bytes, 1, size, file);
}

int main(void) {
    wchar_t folder[32768], name[32768], ready[32768], done[32768], relay[32768];
    int count, code = 125;
    wchar_t **words = CommandLineToArgvW(GetCommandLineW(), &count);
    GetCurrentDirectoryW(32768, folder);
    GetEnvironmentVariableW(L"ROCK_RELAY", relay, 32768);
    _snwprintf(name, 32768, L"%ls\\%lu.new", relay, GetCurrentProcessId());
    _snwprintf(ready, 32768, L"%ls\\%lu.ready", relay, GetCurrentProcessId());
    _snwprintf(done, 32768, L"%ls\\%lu.done", relay, GetCurrentProcessId());
    FILE *file = _wfopen(name, L"wb");
    if (!file) return 126;
    put(file, folder);
    for (int i = 1; i < count; i++) put(file, words[i]);
    put(file, L"\x1");
    for (wchar_t *one = GetEnvironmentStringsW(); *one; one += wcslen(one) + 1) put(file, one);
    fclose(file);
    _wrename(name, ready);
    for (int i = 0; i < 6000; i++) {
        file = _wfopen(done, L"rb");
        if (file) {
            fscanf(file, "%d", &code);
            fclose(file);
            return code;
        }
        Sleep(10);
    }
    return code;
}
