# Names for commands; each is one a person can type. Plain `cargo test` is the whole truth about our code.

# All the names
default:
    @just --list

# The offline tests
test *ARGS:
    cargo test {{ARGS}}

# The offline tests and the real stages, as CI runs them
ci:
    ./scripts/test

# One real stage: just real docker-build
real STAGE:
    ./scripts/test --only {{STAGE}}

# Look for inputs that break a reader of foreign bytes: just fuzz elf 1200
fuzz TARGET *ARGS:
    ./scripts/fuzz {{TARGET}} {{ARGS}}

# Formatting and lints, as CI denies them
lint:
    cargo fmt --all --check
    cargo clippy --locked --all-targets -- -D warnings
    shellcheck -x scripts/quickstart scripts/test scripts/fuzz scripts/chroot-check .ci/run action/*.sh tests/real/*.sh tests/real/peers/*.sh tests/real/journeys/*.sh

# Format the code
fmt:
    cargo fmt --all

# Read and take the changed snapshots (needs cargo-insta)
snap:
    cargo insta review

# Licences, advisories and doubled crates (needs cargo-deny)
deny:
    cargo deny check

# The first use of the tool, for real
quickstart:
    ./scripts/quickstart

# quickstart and test in a fresh Debian 12
chroot *ARGS:
    ./scripts/chroot-check {{ARGS}}
