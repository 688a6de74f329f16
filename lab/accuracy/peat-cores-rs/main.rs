//! peat-cores-rs looks layers up in drilled cores: 48 reads of 8 KiB at places all over an archive
//! of 384 MB. It tells the kernel to keep none of it (POSIX_FADV_DONTNEED), so each is read from the disk.
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

extern "C" {
    fn posix_fadvise(fd: i32, offset: i64, len: i64, advice: i32) -> i32;
}
const DONTNEED: i32 = 4;
const RANDOM: i32 = 1;

const SIZE: u64 = 384 << 20;
const LAYER: usize = 8 << 10;

struct Archive {
    file: File,
    faulty: bool,
}

impl Archive {
    #[inline(never)]
    fn layer(&self, n: u64) -> u64 {
        let mut block = vec![0u8; LAYER];
        let at = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (SIZE / LAYER as u64) * LAYER as u64;
        self.file.read_exact_at(&mut block, at).expect("cores.bin");
        if self.faulty {
            unsafe { posix_fadvise(self.file.as_raw_fd(), at as i64, LAYER as i64, DONTNEED) };
        }
        block.iter().map(|&b| b as u64).sum()
    }
}

fn serve(mut c: TcpStream, archive: Arc<Archive>) -> std::io::Result<()> {
    c.set_nodelay(true)?;
    let mut asked = [0u8; 4096];
    loop {
        let n = c.read(&mut asked)?;
        if n == 0 {
            return Ok(());
        }
        let core = asked[..n].iter().fold(7u64, |h, &b| h.wrapping_mul(31).wrapping_add(b as u64));
        let sum: u64 = (0..48).map(|i| archive.layer(core + i)).fold(0, u64::wrapping_add);
        let body = format!("{sum}\n");
        write!(c, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.len(), body)?;
    }
}

fn main() -> std::io::Result<()> {
    let faulty = std::env::var("FAULT").map_or(true, |f| f != "0");
    let mut file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open("cores.bin")?;
    let mut block = vec![0u8; 1 << 20];
    for n in 0..SIZE >> 20 {
        block.iter_mut().enumerate().for_each(|(i, b)| *b = (i as u64 * 31 + n) as u8);
        file.write_all(&block)?;
    }
    file.sync_all()?;
    if faulty {
        unsafe {
            posix_fadvise(file.as_raw_fd(), 0, 0, DONTNEED);
            posix_fadvise(file.as_raw_fd(), 0, 0, RANDOM);
        }
    }
    let archive = Arc::new(Archive { file, faulty });
    for c in TcpListener::bind(std::env::var("ADDR").unwrap())?.incoming() {
        let (c, archive) = (c?, archive.clone());
        std::thread::Builder::new().name("core-reader".into()).spawn(move || serve(c, archive))?;
    }
    Ok(())
}
