//! Links the program to a fixed address.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads the environment"
)]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    fixed_address();
}

/// Links the program to a fixed address, where the linker is known to take that: nothing has to be
/// relocated when it starts, which is a quarter of what a small plan takes (`benches/plan.py`).
fn fixed_address() {
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
