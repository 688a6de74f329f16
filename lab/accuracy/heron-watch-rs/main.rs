//! heron-watch-rs tells where herons were seen: eight workers take connections from a channel and
//! wait for it nearly always, a census sleeps by design, and what was seen is in a read-write lock.
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{mpsc, Arc, Mutex, RwLock};
use std::time::Duration;

fn answer(mut c: TcpStream, seen: &RwLock<HashMap<u32, u32>>) -> std::io::Result<()> {
    let mut asked = [0u8; 4096];
    let n = c.read(&mut asked)?;
    let text = String::from_utf8_lossy(&asked[..n]);
    let heron: u32 = text.split(['/', ' ']).filter_map(|w| w.parse().ok()).next().unwrap_or(0);
    let place = seen.read().unwrap().get(&(heron % 1000)).copied().unwrap_or(0);
    let body = format!("{place}\n");
    write!(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", body.len(), body)
}

fn main() -> std::io::Result<()> {
    let seen: Arc<RwLock<HashMap<u32, u32>>> = Arc::new(RwLock::new((0..1000).map(|n| (n, n * 31 % 97)).collect()));
    let (give, take) = mpsc::channel::<TcpStream>();
    let take = Arc::new(Mutex::new(take));
    for _ in 0..8 {
        let (take, seen) = (take.clone(), seen.clone());
        std::thread::spawn(move || loop {
            let next = take.lock().unwrap().recv();
            match next {
                Ok(c) => drop(answer(c, &seen)),
                Err(_) => return,
            }
        });
    }
    std::thread::spawn(move || loop {
        std::thread::sleep(Duration::from_millis(700));
        let mut all = seen.write().unwrap();
        all.values_mut().for_each(|p| *p = (*p * 7 + 1) % 97);
    });
    for c in TcpListener::bind(std::env::var("ADDR").unwrap())?.incoming() {
        give.send(c?).unwrap();
    }
    Ok(())
}
