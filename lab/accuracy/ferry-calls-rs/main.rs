//! ferry-calls-rs announces ferries: each call is also printed, and standard output is a pipe to a
//! program that stamps every block it reads and is slow at it. Whoever prints holds the lock of stdout.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Duration;

extern "C" {
    fn dup2(from: i32, to: i32) -> i32;
}

fn stamp() {
    let slow = std::env::var("FAULT").map_or(true, |f| f != "0");
    let mut block = [0u8; 4096];
    while matches!(std::io::stdin().lock().read(&mut block), Ok(n) if n > 0) {
        if slow {
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

#[inline(never)]
fn announce(what: &str) {
    println!("{} {}", what, "~".repeat(12 << 10));
}

fn serve(mut c: TcpStream) -> std::io::Result<()> {
    c.set_nodelay(true)?;
    let mut asked = [0u8; 4096];
    loop {
        let n = c.read(&mut asked)?;
        if n == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&asked[..n]).into_owned();
        announce(text.lines().next().unwrap_or(""));
        c.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ncalled\n")?;
    }
}

fn main() -> std::io::Result<()> {
    if std::env::args().nth(1).as_deref() == Some("stamp") {
        stamp();
        return Ok(());
    }
    let mut child = Command::new(std::env::current_exe()?).arg("stamp").stdin(Stdio::piped()).spawn()?;
    let pipe = child.stdin.take().unwrap();
    unsafe { dup2(pipe.as_raw_fd(), 1) };
    drop(pipe);
    for c in TcpListener::bind(std::env::var("ADDR").unwrap())?.incoming() {
        let c = c?;
        std::thread::spawn(move || serve(c));
    }
    Ok(())
}
