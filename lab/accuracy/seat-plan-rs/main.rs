//! seat-plan-rs keeps which seats of a theatre are taken in a mapped file: a thread for each
//! connection marks a seat and calls msync, so that nothing is lost.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;

extern "C" {
    fn mmap(at: *mut u8, len: usize, prot: i32, flags: i32, fd: i32, offset: i64) -> *mut u8;
    fn msync(at: *mut u8, len: usize, flags: i32) -> i32;
}

const PAGE: usize = 4096;
const SEATS: usize = 512 * PAGE;
const MS_SYNC: i32 = 4;
const MS_ASYNC: i32 = 1;

#[derive(Clone, Copy)]
struct Plan(*mut u8);
unsafe impl Send for Plan {}

impl Plan {
    #[inline(never)]
    fn take(&self, seat: usize, flags: i32) {
        for row in 0..4 {
            let at = (seat * 7 * PAGE + row * 131 * PAGE + seat) % SEATS;
            unsafe {
                *self.0.add(at) = (*self.0.add(at)).wrapping_add(1);
                msync(self.0.add(at / PAGE * PAGE), PAGE, flags);
            }
        }
    }
}

fn serve(mut guest: TcpStream, plan: Plan, flags: i32) -> std::io::Result<()> {
    guest.set_nodelay(true)?;
    let mut asked = [0u8; 4096];
    loop {
        let n = guest.read(&mut asked)?;
        if n == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&asked[..n]);
        let seat = text
            .split_whitespace()
            .nth(1)
            .and_then(|path| path.rsplit('/').next())
            .and_then(|number| number.parse::<usize>().ok())
            .unwrap_or(0);
        plan.take(seat, flags);
        guest.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\ntaken\n")?;
    }
}

fn main() -> std::io::Result<()> {
    let faulty = std::env::var("FAULT").map_or(true, |f| f != "0");
    let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open("seats.map")?;
    file.set_len(SEATS as u64)?;
    let at = unsafe { mmap(std::ptr::null_mut(), SEATS, 3, 1, file.as_raw_fd(), 0) };
    assert!(at as isize != -1, "seats.map cannot be mapped");
    let plan = Plan(at);
    let flags = if faulty { MS_SYNC } else { MS_ASYNC };
    for guest in TcpListener::bind(std::env::var("ADDR").unwrap())?.incoming() {
        let guest = guest?;
        std::thread::spawn(move || {
            let plan = plan;
            serve(guest, plan, flags)
        });
    }
    Ok(())
}
