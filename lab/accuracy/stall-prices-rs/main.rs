//! stall-prices-rs tells prices of market stalls over a protocol of lines. All prices are behind one
//! Mutex, and whoever has it sorts the stalls anew before looking up one.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

struct Market {
    prices: Vec<(u32, u32)>,
}

impl Market {
    fn new() -> Market {
        Market { prices: (0..6000).map(|n| (n * 7919 % 6007, n)).collect() }
    }

    #[inline(never)]
    fn cheapest(&mut self, seed: u32, sorted: bool) -> u32 {
        if sorted {
            let at = (seed as usize) % self.prices.len();
            for p in self.prices.iter_mut() {
                p.0 = p.0.wrapping_mul(1664525).wrapping_add(seed) % 6007;
            }
            self.prices.sort();
            return self.prices[at].0;
        }
        self.prices[0].0
    }
}

fn serve(c: TcpStream, market: Arc<Mutex<Market>>, faulty: bool) -> std::io::Result<()> {
    c.set_nodelay(true)?;
    let mut out = c.try_clone()?;
    for line in BufReader::new(c).lines() {
        let stall: u32 = line?.trim().parse().unwrap_or(1);
        let price = market.lock().unwrap().cheapest(stall, faulty);
        writeln!(out, "{price}")?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let faulty = std::env::var("FAULT").map_or(true, |f| f != "0");
    let market = Arc::new(Mutex::new(Market::new()));
    for c in TcpListener::bind(std::env::var("ADDR").unwrap())?.incoming() {
        let (c, market) = (c?, market.clone());
        std::thread::spawn(move || serve(c, market, faulty));
    }
    Ok(())
}
