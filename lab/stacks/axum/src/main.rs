//! A shop on axum and tokio-postgres: orders in PostgreSQL, quotes of a supplier and rates of a bank over HTTP.
use std::collections::HashMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{signal, SignalKind};
use tokio::sync::RwLock;
use tokio_postgres::NoTls;

struct Shop {
    db: Pool,
    client: reqwest::Client,
    legacy: ureq::Agent,
    rates: RwLock<HashMap<u32, i64>>,
}

#[derive(Serialize)]
struct Order {
    customer: i32,
    cents: i64,
    status: String,
}

#[derive(Serialize, Deserialize)]
struct Quote {
    receipt: String,
    cents: i64,
}

type Answer<T> = Result<Json<T>, (StatusCode, String)>;

fn fault(name: &str) -> bool {
    env::var("FAULT").is_ok_and(|f| f == name)
}

fn address(name: &str) -> String {
    env::var(format!("ADDR_{name}")).expect("an address in the environment")
}

fn failed(e: impl std::fmt::Display) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, e.to_string())
}

#[tokio::main]
async fn main() {
    let (host, port) = address("DB").split_once(':').map(|(h, p)| (h.to_string(), p.parse().expect("a port"))).expect("host:port");
    let mut config = tokio_postgres::Config::new();
    config.host(&host).port(port).user("shop").dbname("shop");
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let shop = Arc::new(Shop {
        db: Pool::builder(manager).max_size(12).build().expect("a pool"),
        client: reqwest::Client::builder().timeout(Duration::from_secs(20)).build().expect("a client"),
        legacy: ureq::AgentBuilder::new().timeout(Duration::from_secs(20)).build(),
        rates: RwLock::default(),
    });
    tokio::spawn(refresh(shop.clone()));
    let app = Router::new()
        .route("/orders/{id}", get(order))
        .route("/quotes/{id}", get(quote))
        .route("/rates/{currency}", get(rate))
        .with_state(shop);
    let listener = tokio::net::TcpListener::bind(env::var("ADDR").expect("ADDR")).await.expect("an address to listen on");
    let mut stop = signal(SignalKind::terminate()).expect("a signal");
    tokio::select! {
        done = async { axum::serve(listener, app).await } => done.expect("served"),
        _ = stop.recv() => {}
    }
}

async fn order(State(shop): State<Arc<Shop>>, Path(id): Path<i32>) -> Answer<Order> {
    let db = shop.db.get().await.map_err(failed)?;
    let query = db.prepare_cached("select customer_id, total_cents, status from orders where id = $1").await.map_err(failed)?;
    let row = db.query_one(&query, &[&id]).await.map_err(failed)?;
    Ok(Json(Order { customer: row.get(0), cents: row.get(1), status: row.get(2) }))
}

/// Asks the supplier. With the fault blocking-call by a client that blocks the thread of the runtime.
async fn quote(State(shop): State<Arc<Shop>>, Path(id): Path<u32>) -> Answer<Quote> {
    let url = format!("http://{}/quote/{id}", address("SUPPLIER"));
    if fault("blocking-call") {
        let text = shop.legacy.get(&url).call().map_err(failed)?.into_string().map_err(failed)?;
        return serde_json::from_str(&text).map(Json).map_err(failed);
    }
    let quote = shop.client.get(url).send().await.map_err(failed)?.json().await.map_err(failed)?;
    Ok(Json(quote))
}

async fn rate(State(shop): State<Arc<Shop>>, Path(currency): Path<u32>) -> Answer<i64> {
    let rates = shop.rates.read().await;
    Ok(Json(rates.get(&(currency % 40)).copied().unwrap_or(100)))
}

/// Fetches the rates of the bank every two seconds. With the fault guard-over-call the lock is held meanwhile.
async fn refresh(shop: Arc<Shop>) {
    let url = format!("http://{}/rates", address("BANK"));
    loop {
        if fault("guard-over-call") {
            let mut rates = shop.rates.write().await;
            if let Ok(cents) = fetch(&shop.client, &url).await {
                *rates = (0..40).map(|n| (n, cents + i64::from(n))).collect();
            }
        } else if let Ok(cents) = fetch(&shop.client, &url).await {
            *shop.rates.write().await = (0..40).map(|n| (n, cents + i64::from(n))).collect();
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

async fn fetch(client: &reqwest::Client, url: &str) -> Result<i64, reqwest::Error> {
    Ok(client.get(url).send().await?.json::<Quote>().await?.cents)
}
