# << wheel >>
# Job << job >>, by << generator >>. It runs on a Windows machine, in the folder it is called from.
#   ROCK_FOLDER=DIR     the job's folder, absolute
#   ROCK_FROM=STAGE     begins at that stage; those before it are taken as done
#   ROCK_PYTHON=PROGRAM the Python, 3.8 or later, that runs the steps
$ErrorActionPreference = 'Stop'
$from = $env:ROCK_FROM
$python = << python >>
if ($env:ROCK_PYTHON) { $python = $env:ROCK_PYTHON }

# The environment is the session's: what a step sets is taken back, however it ends.
function environment {
  $found = @{}
  Get-ChildItem Env: | ForEach-Object { $found[$_.Name] = $_.Value }
  $found
}
function restore($kept) {
  Get-ChildItem Env: | Where-Object { -not $kept.ContainsKey($_.Name) } | Remove-Item
  foreach ($name in $kept.Keys) { Set-Item -LiteralPath "Env:$name" -Value $kept[$name] }
}
# Runs a stage: its name, what sets its variables, the words of its command. After a failure only those with -last run,
# until one of them fails too; the code of what failed first is that of the whole.
$failed = 0
function step([string]$stage, [scriptblock]$variables, [string[]]$words, [switch]$last) {
  if ($script:failed -and -not $last) { return }
  if ($script:from -eq $stage) { $script:from = '' }
  if ($script:from) {
    Write-Output "== ${stage}: done before"
    return
  }
  $kept = environment
  try {
    if ($variables) { . $variables }
    & $script:python words/run.py $stage @words
    if ($LASTEXITCODE -ne 0) {
      if (-not $script:failed) { $script:failed = $LASTEXITCODE }
      if ($last) { exit $script:failed }
    }
  } finally {
    restore $kept
  }
}
# What earlier stages found; not every answer is needed.
function facts {
  foreach ($name in @(<< facts >>)) {
    $file = "$env:ROCK_FOLDER/facts/$name"
    $value = ''
    if (Test-Path -LiteralPath $file) { $value = [IO.File]::ReadAllText($file) }
    Set-Item -LiteralPath "Env:ROCK_FACT_$name" -Value $value
  }
}

$begun = environment
Push-Location
try {
  if (-not $env:ROCK_FOLDER) { $env:ROCK_FOLDER = "$PWD/.rock/" + << id >> }
<% if uses_caller %>
  if (-not $env:ROCK_CALLER) { $env:ROCK_CALLER = "$PWD" }
<% endif %>
  foreach ($name in @('done', 'facts', 'words')) { [void][IO.Directory]::CreateDirectory("$env:ROCK_FOLDER/$name") }
  Set-Location -LiteralPath $env:ROCK_FOLDER
  # The lines at the end of this file are programs and words that a command line cannot hold; each becomes a file.
  & $python -c << unpack >> $PSCommandPath
  if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
  if (-not $from) {
    & $python words/run.py --look @(<< look >>)
    if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
  }
  facts
<% for step in steps %>

  # << loop.index >>/<< steps|length >>
  step << step.stage >> <% if step.variables %>{
<% for line in step.variables %>
    << line >>
<% endfor %>
  }<% else %>$null<% endif %> @(<< step.words >>)<% if step.finally %> -last<% endif %>

<% if step.asks %>
  facts
<% endif %>
<% endfor %>

  if ($failed) { exit $failed }
  if ($from) {
    Write-Output "== no stage is called $from"
    exit 2
  }
} finally {
  Pop-Location
  restore $begun
}
exit 0

<% for file in files %>
#=<< file.name >>
<% for line in file.lines %>
#|<< line >>
<% endfor %>
<% endfor %>
