//! The properties of an ELF file that policies and findings are about.

use std::collections::{BTreeMap, BTreeSet};

use super::libc;
use super::limits::{MAX_NEEDED, MAX_SEARCH_PATH_BYTES};
use super::symbol_version::newest_versions;
use rock_bytes::ReadAt;
use rock_compat::policy::PolicyFamily;
use rock_elf::{Elf, ElfError, ElfHeader, StringTable, SymbolBinding, VersionNeed, tag};

/// An ELF library or program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElfLibrary {
    /// The ELF header.
    pub header: ElfHeader,
    /// The program interpreter, for a program.
    pub interpreter: Option<String>,
    /// The SONAME.
    pub soname: Option<String>,
    /// The NEEDED libraries in order.
    pub needed: Vec<String>,
    /// The RPATH, which is searched before the environment's directories; ignored if there is a
    /// RUNPATH.
    pub rpath: Option<String>,
    /// The RUNPATH. Audits search it before the environment's directories, as auditwheel does; the
    /// dynamic linker searches it after them (ld.so(8)).
    pub runpath: Option<String>,
    /// The symbol versions that it needs.
    pub versions: Vec<VersionNeed>,
    /// For each of these versions, the first symbol that needs it.
    pub version_users: BTreeMap<String, String>,
    /// The Python that it is an extension module for.
    pub extension: Option<ExtensionPython>,
    /// The undefined symbols that the inspection keeps.
    pub undefined: BTreeSet<String>,
    /// The first undefined symbol that may be a function of a C library, in a file that needs none
    /// by name.
    pub libc_symbol: Option<String>,
    /// Whether it uses the floating-point handler of `fpectl` (PEP 513, "fpectl builds vs. no
    /// fpectl builds").
    pub uses_pyfpe: bool,
    /// Whether it was built for a Python 2 with narrow Unicode (PEP 513, "UCS-2 vs UCS-4 builds").
    pub uses_ucs2: bool,
    /// The level of x86-64 that it needs according to its ELF note, from 0.
    pub isa_level: Option<usize>,
}

/// The Python that an extension module is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionPython {
    /// Python 2.
    Python2,
    /// Python 3.
    Python3,
}

/// `STT_NOTYPE` and `STT_FUNC`, the types of undefined functions (gABI, chapter 4).
const UNDEFINED_KINDS: [u8; 2] = [0, 2];
/// The floating-point handler of `fpectl`.
const PYFPE: [&str; 3] = ["PyFPE_jbuf", "PyFPE_dummy", "PyFPE_counter"];

impl ElfLibrary {
    /// Reads the properties of a file. `file_name` is the last component of its path;
    /// `keeps_symbol` returns whether an undefined symbol is kept.
    ///
    /// # Errors
    /// Returns an error if a table that the dynamic linker needs is damaged.
    pub fn read(
        source: &dyn ReadAt,
        elf: &Elf,
        file_name: &str,
        keeps_symbol: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Self, ElfError> {
        let strings = elf.string_table(source)?;
        let mut library = Self {
            header: *elf.header(),
            interpreter: elf.interpreter(source)?,
            soname: last_string(elf, &strings, tag::SONAME)?,
            needed: elf.dynamic_strings(&strings, tag::NEEDED)?,
            rpath: last_string(elf, &strings, tag::RPATH)?,
            runpath: last_string(elf, &strings, tag::RUNPATH)?,
            versions: elf.version_needs(source, &strings)?,
            version_users: BTreeMap::new(),
            extension: extension(source, elf, &strings, file_name)?,
            undefined: BTreeSet::new(),
            libc_symbol: None,
            uses_pyfpe: false,
            uses_ucs2: false,
            isa_level: elf.x86_isa_needed(source)?,
        };
        library.check_sizes()?;
        library.read_undefined(source, elf, &strings, keeps_symbol)?;
        Ok(library)
    }

    fn check_sizes(&self) -> Result<(), ElfError> {
        if self.needed.len() > MAX_NEEDED {
            let reason = format!(
                "it needs {} libraries, more than {MAX_NEEDED}",
                self.needed.len()
            );
            return Err(ElfError::Malformed { reason });
        }
        match self
            .rpath
            .iter()
            .chain(&self.runpath)
            .find(|path| path.len() > MAX_SEARCH_PATH_BYTES)
        {
            Some(path) => Err(ElfError::Malformed {
                reason: format!(
                    "its search path has {} bytes, more than {MAX_SEARCH_PATH_BYTES}",
                    path.len()
                ),
            }),
            None => Ok(()),
        }
    }

    fn read_undefined(
        &mut self,
        source: &dyn ReadAt,
        elf: &Elf,
        strings: &StringTable,
        keeps_symbol: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<(), ElfError> {
        let symbols = elf.symbols(source)?;
        let versions = match elf.symbol_versions(source, symbols.len()) {
            // Policies depend on versions, and not on the symbols that need them.
            Err(ElfError::OutOfBounds { .. }) => Vec::new(),
            versions => versions?,
        };
        let mut unused: BTreeMap<u16, &str> = BTreeMap::new();
        for need in &self.versions {
            unused.extend(
                need.indexes
                    .iter()
                    .copied()
                    .zip(need.versions.iter().map(String::as_str)),
            );
        }
        let names_libc = self.named_libc().is_some();
        for (index, symbol) in symbols
            .iter()
            .enumerate()
            .filter(|(_, symbol)| symbol.is_undefined())
        {
            let name = strings.get(symbol.name.into())?;
            if !names_libc && self.libc_symbol.is_none() && symbol.binding == SymbolBinding::Global
            {
                // A version names the library that has the symbol; 0 and 1 are none (gABI, "Symbol
                // Versions").
                let has_version = versions
                    .get(index)
                    .is_some_and(|version| version & 0x7fff > 1);
                let may_be = !has_version && libc::may_be_function(name, !self.needed.is_empty());
                self.libc_symbol = may_be.then(|| name.to_owned());
            }
            if let Some(version) = versions
                .get(index)
                .filter(|_| !unused.is_empty())
                .and_then(|version| unused.remove(version))
            {
                self.version_users
                    .insert(version.to_owned(), name.to_owned());
            }
            if self.extension.is_some() && UNDEFINED_KINDS.contains(&symbol.kind) {
                self.uses_pyfpe |= PYFPE.contains(&name);
                let is_narrow = symbol.is_function() && name.contains("PyUnicodeUCS2_");
                self.uses_ucs2 |= is_narrow && self.extension == Some(ExtensionPython::Python2);
            }
            if symbol.binding != SymbolBinding::Weak && keeps_symbol(name) {
                self.undefined.insert(name.to_owned());
            }
        }
        Ok(())
    }

    /// Returns the C library that its needs identify. A plain `libc.so` is musl's if functions of C
    /// are called.
    pub fn named_libc(&self) -> Option<PolicyFamily> {
        let calls_plain =
            self.libc_symbol.is_some() && libc::needs_plain_musl(&self.needed, &self.versions);
        let named =
            libc::from_dependencies(self.interpreter.as_deref(), &self.needed, &self.versions);
        named.or(calls_plain.then_some(PolicyFamily::Musllinux))
    }

    /// Returns whether the library contains code for x86-64-v2 or later.
    pub fn is_above_isa_baseline(&self) -> bool {
        self.isa_level.is_some_and(|level| level > 0)
    }

    /// Returns the newest version of each prefix (`GLIBC`, `CXXABI`) that the library needs.
    pub fn newest_versions(&self) -> BTreeMap<&str, &str> {
        let versions = self.versions.iter().flat_map(|need| &need.versions);
        newest_versions(
            versions
                .map(String::as_str)
                .filter(|version| version.contains('_')),
        )
    }

    /// Returns whether the dynamic linker would load this library for `other`: they have the same
    /// class, byte order and machine, and the same or no specific operating system (gABI,
    /// `EI_OSABI`: 0 is System V, 3 is GNU).
    pub fn is_loadable_by(&self, other: &Self) -> bool {
        let (own, other) = (&self.header, &other.header);
        own.format == other.format
            && own.machine == other.machine
            && required_system(own) == required_system(other)
    }
}

/// Returns the operating system that a file requires, as its number in `EI_OSABI`; 0 for none.
fn required_system(header: &ElfHeader) -> u8 {
    if header.os_abi == 3 { 0 } else { header.os_abi }
}

/// Returns the text of the last dynamic entry with this tag, the one that the dynamic linker uses.
fn last_string(elf: &Elf, strings: &StringTable, tag: u64) -> Result<Option<String>, ElfError> {
    Ok(elf.dynamic_strings(strings, tag)?.into_iter().last())
}

/// Returns the Python of an extension module, which defines the function that Python calls to load
/// it (Python manual, "Initializing C modules").
fn extension(
    source: &dyn ReadAt,
    elf: &Elf,
    strings: &StringTable,
    file_name: &str,
) -> Result<Option<ExtensionPython>, ElfError> {
    let stem = file_name.split('.').next().unwrap_or_default();
    let names = [
        format!("PyInit_{stem}"),
        format!("init{stem}"),
        format!("_cffi_pypyinit_{stem}"),
    ];
    let init_function = elf.find_defined_function(source, strings, &names)?;
    Ok(init_function.map(|name| {
        if name == names[0] {
            ExtensionPython::Python3
        } else {
            ExtensionPython::Python2
        }
    }))
}
