//! Redirecting libc calls of the php binary and the loaded libraries.
//!
//! A dynamically linked object calls `recv` through a slot that the dynamic linker fills with the function's address.
//! We find these slots by the object's relocations and store another address there. The functions themselves stay as
//! they are, so whoever is left alone (libc, the linker, this module) still reaches them directly.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// One function that is to be called in place of another.
#[derive(Clone, Copy)]
pub struct Redirect {
    /// The name of the symbol.
    pub name: &'static CStr,
    /// What to call. It MUST have the signature of what it stands for.
    pub to: *const c_void,
}

// SAFETY: addresses of functions.
unsafe impl Send for Redirect {}
// SAFETY: addresses of functions.
unsafe impl Sync for Redirect {}

/// What one pass has done.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Patched {
    /// Objects that were looked at.
    pub objects: usize,
    /// Slots that were changed.
    pub slots: usize,
}

/// Objects that were looked at, by their load address: a pass over later ones skips them. An address means another
/// object when one was unloaded: then all are looked at again.
struct Seen {
    objects: HashSet<usize>,
    /// How many objects the linker had unloaded by then.
    unloaded: u64,
}

static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// What observers of switches between fibers register themselves with: a switch is told of only where an object
/// imports it.
const OBSERVES: &CStr = c"zend_observer_fiber_switch_register";

/// Whether one that was looked at does, left alone or not.
static OBSERVED: AtomicBool = AtomicBool::new(false);

/// Whether an object that some pass has seen may observe switches between fibers.
pub fn observes_switches() -> bool {
    OBSERVED.load(Ordering::Relaxed)
}

#[cfg(target_arch = "x86_64")]
mod kind {
    pub(super) const SLOTS: [u32; 3] = [7, 6, 1]; // R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64
}
#[cfg(target_arch = "aarch64")]
mod kind {
    pub(super) const SLOTS: [u32; 3] = [1026, 1025, 257]; // R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod kind {
    pub(super) const SLOTS: [u32; 0] = [];
}

const DT_NULL: i64 = 0;
const DT_PLTRELSZ: i64 = 2;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_PLTREL: i64 = 20;
const DT_JMPREL: i64 = 23;

#[repr(C)]
struct Dyn {
    tag: i64,
    value: usize,
}

#[repr(C)]
struct Rela {
    offset: usize,
    info: u64,
    addend: i64,
}

struct Pass<'a> {
    wanted: HashMap<&'static CStr, *const c_void>,
    seen: Seen,
    skip: &'a dyn Fn(&str) -> bool,
    own: usize,
    /// The object that is looked at keeps its slots.
    skipped: bool,
    done: Patched,
}

/// Redirects the functions of `table` in every loaded object that was not looked at before, but for those whose path
/// `skip` says yes to (the program itself has an empty path), and this module.
pub fn redirect(table: &[Redirect], skip: &dyn Fn(&str) -> bool) -> Patched {
    let Ok(mut seen) = SEEN.lock() else { return Patched::default() };
    let mut pass = Pass {
        wanted: table.iter().map(|r| (r.name, r.to)).collect(),
        seen: seen.take().unwrap_or_else(|| Seen { objects: HashSet::new(), unloaded: 0 }),
        skip,
        own: own_base(),
        skipped: false,
        done: Patched::default(),
    };
    // SAFETY: the callback gets back the pointer to `pass`, which outlives the walk.
    unsafe { libc::dl_iterate_phdr(Some(visit), ptr::from_mut(&mut pass).cast()) };
    *seen = Some(pass.seen);
    pass.done
}

/// Where this module is loaded.
fn own_base() -> usize {
    // SAFETY: plain data that dladdr fills.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for; `info` is local.
    let found = unsafe { libc::dladdr(visit as *const c_void, &raw mut info) };
    if found == 0 { 0 } else { info.dli_fbase as usize }
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, pass: *mut c_void) -> c_int {
    // SAFETY: the linker's record is valid during the callback; `pass` is ours, used by nobody else meanwhile.
    let (info, pass) = unsafe { (&*info, &mut *pass.cast::<Pass<'_>>()) };
    let base = info.dlpi_addr as usize;
    if info.dlpi_subs != pass.seen.unloaded {
        pass.seen = Seen { objects: HashSet::new(), unloaded: info.dlpi_subs };
    }
    let path = if info.dlpi_name.is_null() {
        std::borrow::Cow::Borrowed("")
    } else {
        // SAFETY: a NUL-terminated string of the linker.
        unsafe { CStr::from_ptr(info.dlpi_name) }.to_string_lossy()
    };
    if base == pass.own || !pass.seen.objects.insert(base) {
        return 0;
    }
    pass.skipped = (pass.skip)(&path);
    // SAFETY: the program headers are mapped, dlpi_phnum of them.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    pass.done.objects += usize::from(!pass.skipped);
    // SAFETY: headers of an object that the linker has loaded at `base` and keeps loaded during the walk.
    unsafe { pass.object(base, headers) };
    0
}

impl Pass<'_> {
    /// # Safety
    /// `headers` MUST be those of an object loaded at `base`.
    unsafe fn object(&mut self, base: usize, headers: &[libc::Elf64_Phdr]) {
        let Some(dynamic) = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC) else { return };
        // SAFETY: the dynamic section is mapped, and ends with DT_NULL.
        let table = unsafe { DynamicTable::read(base, (base + dynamic.p_vaddr as usize) as *const Dyn) };
        if table.symbols == 0 || table.strings == 0 {
            return;
        }
        let slots: Vec<_> = [(table.jmprel, table.pltrelsz), (table.rela, table.relasz)]
            .into_iter()
            .filter(|&(start, size)| start != 0 && size != 0)
            // SAFETY: the linker's own tables, of the sizes that it goes by.
            .flat_map(|(start, size)| unsafe { self.slots(&table, base, start, size) })
            .collect();
        if slots.is_empty() {
            return;
        }
        let relro = headers.iter().find(|h| h.p_type == libc::PT_GNU_RELRO).map(|h| Pages::of(base, h));
        let opened = relro.filter(|pages| {
            slots.iter().any(|&(slot, _)| pages.hold(slot)) && pages.protect(libc::PROT_READ | libc::PROT_WRITE)
        });
        for (slot, to) in slots {
            if relro.is_some_and(|pages| pages.hold(slot)) && opened.is_none() {
                continue;
            }
            // SAFETY: an aligned, mapped and now writable slot that holds a function's address; other threads read it
            // whole.
            unsafe { std::sync::atomic::AtomicUsize::from_ptr(slot as *mut usize) }
                .store(to as usize, std::sync::atomic::Ordering::Release);
            self.done.slots += 1;
        }
        if let Some(pages) = opened {
            pages.protect(libc::PROT_READ);
        }
    }

    /// # Safety
    /// `start` and `size` MUST be a relocation table of the object that `table` describes.
    unsafe fn slots(
        &self,
        table: &DynamicTable,
        base: usize,
        start: usize,
        size: usize,
    ) -> Vec<(usize, *const c_void)> {
        // SAFETY: by contract.
        let relocations = unsafe { std::slice::from_raw_parts(start as *const Rela, size / size_of::<Rela>()) };
        let mut found = Vec::new();
        for relocation in relocations {
            let symbol = (relocation.info >> 32) as usize;
            if symbol == 0 || relocation.addend != 0 || !kind::SLOTS.contains(&(relocation.info as u32)) {
                continue;
            }
            // SAFETY: a relocation's symbol is in the symbol table, its name in the string table.
            let (symbol, name) = unsafe {
                let symbol = &*(table.symbols as *const libc::Elf64_Sym).add(symbol);
                (symbol, CStr::from_ptr((table.strings + symbol.st_name as usize) as *const libc::c_char))
            };
            // A function that the object itself defines under that name is not libc's.
            if symbol.st_shndx != 0 {
                continue;
            }
            if name == OBSERVES {
                OBSERVED.store(true, Ordering::Relaxed);
            }
            if let Some(&to) = self.wanted.get(name).filter(|_| !self.skipped) {
                found.push((base + relocation.offset, to));
            }
        }
        found
    }
}

#[derive(Default)]
struct DynamicTable {
    symbols: usize,
    strings: usize,
    rela: usize,
    relasz: usize,
    jmprel: usize,
    pltrelsz: usize,
}

impl DynamicTable {
    /// # Safety
    /// `entry` MUST point to the dynamic section of an object loaded at `base`.
    unsafe fn read(base: usize, mut entry: *const Dyn) -> Self {
        // The linker has made addresses of the offsets, but in objects that it does not relocate.
        let address = |value: usize| if value < base { base + value } else { value };
        let mut table = Self::default();
        let mut plt_is_rela = true;
        loop {
            // SAFETY: not past DT_NULL.
            let Dyn { tag, value } = unsafe { &*entry };
            match *tag {
                DT_NULL => break,
                DT_SYMTAB => table.symbols = address(*value),
                DT_STRTAB => table.strings = address(*value),
                DT_RELA => table.rela = address(*value),
                DT_RELASZ => table.relasz = *value,
                DT_JMPREL => table.jmprel = address(*value),
                DT_PLTRELSZ => table.pltrelsz = *value,
                DT_PLTREL => plt_is_rela = *value as i64 == DT_RELA,
                _ => {}
            }
            // SAFETY: DT_NULL has not come yet.
            entry = unsafe { entry.add(1) };
        }
        if !plt_is_rela {
            table.jmprel = 0;
        }
        table
    }
}

/// Pages that the linker has made read-only after relocation.
#[derive(Clone, Copy)]
struct Pages {
    start: usize,
    end: usize,
}

impl Pages {
    fn of(base: usize, header: &libc::Elf64_Phdr) -> Self {
        // SAFETY: asks for a constant of the system.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let start = base + header.p_vaddr as usize;
        // As the linker rounds it: a page that is shared with writable data stays writable.
        Self { start: start & !(page - 1), end: (start + header.p_memsz as usize) & !(page - 1) }
    }

    fn hold(self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }

    fn protect(self, protection: c_int) -> bool {
        // SAFETY: the pages belong to a loaded object and hold the linker's data only; they stay readable.
        unsafe { libc::mprotect(self.start as *mut c_void, self.end - self.start, protection) == 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{CString, c_uint};
    use std::path::Path;
    use std::process::Command;

    use apus_scratch::Folder;

    use super::*;

    const INSTEAD: c_uint = 4711;

    unsafe extern "C" fn instead(_: c_uint) -> c_uint {
        INSTEAD
    }

    /// A library with one function, which calls `alarm(3)`.
    fn library(folder: &Path, name: &str) -> CString {
        let (source, path) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
        std::fs::write(&source, "unsigned alarm(unsigned);\nunsigned call(void) { return alarm(0); }\n").unwrap();
        let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&path).arg(&source).status().unwrap();
        assert!(built.success());
        CString::new(path.into_os_string().into_encoded_bytes()).unwrap()
    }

    #[test]
    fn a_library_loaded_where_another_was_unloaded_is_redirected_too() {
        let folder = Folder::new("got");
        let table = [Redirect { name: c"alarm", to: instead as *const c_void }];
        let others = |path: &str| !path.contains("apus-got-");
        for name in ["one", "two", "three"] {
            let path = library(&folder.0, name);
            // SAFETY: a library without constructors, whose function has this signature; closed when nothing of it is
            // used any more.
            unsafe {
                let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
                assert!(!handle.is_null());
                assert_eq!(redirect(&table, &others).slots, 1, "{name}");
                let call = libc::dlsym(handle, c"call".as_ptr());
                assert!(!call.is_null());
                let call: extern "C" fn() -> c_uint = std::mem::transmute(call);
                assert_eq!(call(), INSTEAD, "{name}");
                assert_eq!(libc::dlclose(handle), 0);
            }
        }
    }
}
