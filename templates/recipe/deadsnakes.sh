# A virtual environment with a Python of the deadsnakes archive (Ubuntu). Arguments: package, suffix, program, folder.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends software-properties-common
add-apt-repository -y ppa:deadsnakes/ppa
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$1$2" "$1-dev" "$1-venv"
exec "$3" -m venv "$4"
