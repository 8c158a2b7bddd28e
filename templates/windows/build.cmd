<% macro stage(step, number, of) %>

rem << number >>/<< of >>
call :begins << step.stage >>
if not "%ERRORLEVEL%"=="0" goto after_<< number >>
setlocal
<% for line in step.variables %>
<< line >>
<% endfor %>
"%ROCK_PYTHON%" words\run.py << step.stage >> << step.words >>
endlocal & set "ROCK_CODE=%ERRORLEVEL%"
if "%ROCK_FAILED%"=="0" set "ROCK_FAILED=%ROCK_CODE%"
if not "%ROCK_CODE%"=="0" goto << "ends" if step.finally else "finishes" >>
<% if step.asks %>
call :facts
<% endif %>
:after_<< number >>
<% endmacro %>
@echo off
rem << wheel >>
rem Job << job >>, by << generator >>. It runs on a Windows machine, in the folder it is called from.
rem   ROCK_FOLDER=DIR     the job's folder, absolute
rem   ROCK_FROM=STAGE     begins at that stage; those before it are taken as done
rem   ROCK_PYTHON=PROGRAM the Python, 3.8 or later, that runs the steps
setlocal EnableExtensions DisableDelayedExpansion
chcp 65001 >nul
set "ROCK_SCRIPT=%~f0"
if not defined ROCK_FOLDER set "ROCK_FOLDER=%CD%\.rock\<< id >>"
<% if uses_caller %>
if not defined ROCK_CALLER set "ROCK_CALLER=%CD%"
<% endif %>
if not defined ROCK_PYTHON set "ROCK_PYTHON=<< python >>"
for %%i in (done facts words) do if not exist "%ROCK_FOLDER%\%%i" mkdir "%ROCK_FOLDER%\%%i"
if not exist "%ROCK_FOLDER%\words" exit /b 3
cd /d "%ROCK_FOLDER%"
rem The lines at the end of this file are programs and words that cmd cannot hold; each becomes a file.
"%ROCK_PYTHON%" -c << unpack >> "%ROCK_SCRIPT%"
if not "%ERRORLEVEL%"=="0" exit /b %ERRORLEVEL%
if defined ROCK_FROM goto looked
"%ROCK_PYTHON%" words\run.py --look << look >>
if not "%ERRORLEVEL%"=="0" exit /b %ERRORLEVEL%
:looked
set "ROCK_FAILED=0"
call :facts
<% for step in steps if not step.finally %>
<< stage(step, loop.index, steps|length) >><% endfor %>

rem What runs at the end runs after a failure too; the code of what failed first is that of the whole.
:finishes
<% for step in steps if step.finally %>
<< stage(step, steps|length - loop.length + loop.index, steps|length) >><% endfor %>

:ends
if not "%ROCK_FAILED%"=="0" exit /b %ROCK_FAILED%
if defined ROCK_FROM (
  echo == no stage is called %ROCK_FROM%
  exit /b 2
)
exit /b 0

rem Whether a stage runs: not while ROCK_FROM names a later one.
:begins
if "%ROCK_FROM%"=="%1" set "ROCK_FROM="
if not defined ROCK_FROM exit /b 0
echo == %1: done before
exit /b 1

rem What earlier stages found; not every answer is needed.
:facts
<% if facts %>
for %%i in (<< facts >>) do call :fact %%i
exit /b 0
:fact
set "ROCK_FACT_%1="
if exist "facts\%1" for /f "usebackq delims=" %%v in ("facts\%1") do set "ROCK_FACT_%1=%%v"
<% endif %>
exit /b 0

<% for file in files %>
#=<< file.name >>
<% for line in file.lines %>
#|<< line >>
<% endfor %>
<% endfor %>
