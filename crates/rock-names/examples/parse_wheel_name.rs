//! Prints the parts of a wheel name: `cargo run -p rock-names --example parse_wheel_name -- NAME`.

#![allow(clippy::print_stdout)]

use rock_names::{Combination, WheelIdentity, WheelName};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| {
        "flash_attn-2.8.3+rocm62torch2.5triton-cp312-cp312-linux_x86_64.whl".to_owned()
    });
    let name: WheelName = text.parse()?;
    let identity = WheelIdentity::of(&name, &["6.2".parse()?, "7.14".parse()?])?;
    println!("normal form:  {}", name.normalized());
    println!("requirement:  {}", name.requirement());
    println!("runs with:    {}", Combination::of(&identity).runs_with());
    for tag in name.expanded_tags() {
        println!("tag:          {tag}");
    }
    Ok(())
}
