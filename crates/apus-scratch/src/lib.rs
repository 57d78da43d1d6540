//! A folder for one test, removed with it. Only tests know this crate.

#![expect(clippy::expect_used, reason = "what is missing fails the test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh folder below the system's temporary one, and its path.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// `name` tells the folders apart for somebody who looks at them.
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let unique = format!("apus-{name}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(unique);
        fs::create_dir_all(&path).expect("a scratch folder");
        Self(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the folders above it, and says where it is.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.join(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("its folder");
        fs::write(&file, text).expect("a scratch file");
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
