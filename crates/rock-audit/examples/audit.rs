//! Prints the first lines of `rock-matrix wheel show --no-host-libs`, and the findings.
#![expect(clippy::print_stdout, reason = "programs print")]

use std::path::Path;

use rock_audit::gfx::GfxDocument;
use rock_audit::{AuditOptions, Auditor, NoLibraries};
use rock_compat::Compat;
use rock_names::WheelName;
use rock_sys::PositionalFile;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: audit WHEEL")?;
    let file_name = Path::new(&path).file_name().unwrap_or_default();
    let name: WheelName = file_name.to_string_lossy().parse()?;
    let file = PositionalFile::open(Path::new(&path))?;

    let compat = Compat::embedded();
    let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
    let audited = auditor.audit(&name, &file)?;

    println!("{name}");
    let verdict = if audited.is_claim_accurate() {
        "accurate"
    } else {
        "not accurate"
    };
    let claims = name.platform_tags().as_slice().join(", ");
    println!("  claims    {claims} ({verdict})");
    if let Some(tag) = audited.platform_tag() {
        println!("  platform  {tag}");
    }
    let gfx = GfxDocument::new(audited.files());
    println!("  gfx       {}", gfx.targets().join(" "));
    for finding in audited.findings() {
        println!(
            "{} {}: {}",
            finding.severity, finding.code.id, finding.message
        );
    }
    Ok(())
}
