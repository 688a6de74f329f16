//! spark-jobs-rs grades sparks: for each of the 60 parts of a request a thread is started, which does next
//! to nothing, and is joined.
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

fn grade(part: u64) -> u64 {
    (0..200u64).fold(part, |h, n| h.rotate_left(5) ^ n.wrapping_mul(0x9E37_79B9))
}

#[inline(never)]
fn grade_all(seed: u64, apart: bool) -> u64 {
    if !apart {
        return (0..60).map(|n| grade(seed + n)).fold(0, u64::wrapping_add);
    }
    let parts: Vec<_> = (0..60).map(|n| std::thread::spawn(move || grade(seed + n))).collect();
    parts.into_iter().map(|p| p.join().unwrap()).fold(0, u64::wrapping_add)
}

fn serve(mut c: TcpStream, apart: bool) -> std::io::Result<()> {
    c.set_nodelay(true)?;
    let mut asked = [0u8; 4096];
    loop {
        let n = c.read(&mut asked)?;
        if n == 0 {
            return Ok(());
        }
        let body = format!("{}\n", grade_all(asked[..n].iter().map(|&b| b as u64).sum(), apart));
        write!(c, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.len(), body)?;
    }
}

fn main() -> std::io::Result<()> {
    let apart = std::env::var("FAULT").map_or(true, |f| f != "0");
    for c in TcpListener::bind(std::env::var("ADDR").unwrap())?.incoming() {
        let c = c?;
        std::thread::spawn(move || serve(c, apart));
    }
    Ok(())
}
