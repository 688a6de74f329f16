//! A counter for tickets on actix-web and deadpool: orders in PostgreSQL, tickets that are sealed with a slow hash.
use std::env;

use actix_web::error::{ErrorInternalServerError, ErrorNotFound};
use actix_web::{get, post, web, App, Error, HttpServer};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use serde::Serialize;
use sha2::{Digest, Sha256};
use tokio_postgres::NoTls;

#[derive(Serialize)]
struct Order {
    customer: i32,
    cents: i64,
    status: String,
}

#[derive(Serialize)]
struct Turnover {
    cents: i64,
}

#[derive(Serialize)]
struct Seal {
    ticket: u32,
    seal: String,
}

fn fault(name: &str) -> bool {
    env::var("FAULT").is_ok_and(|f| f == name)
}

#[get("/orders/{id}")]
async fn show_order(db: web::Data<Pool>, id: web::Path<i32>) -> Result<web::Json<Order>, Error> {
    let client = db.get().await.map_err(ErrorInternalServerError)?;
    let query = client.prepare_cached("select customer_id, total_cents, status from orders where id = $1").await.map_err(ErrorInternalServerError)?;
    let row = client.query_opt(&query, &[&*id]).await.map_err(ErrorInternalServerError)?.ok_or_else(|| ErrorNotFound("no such order"))?;
    Ok(web::Json(Order { customer: row.get(0), cents: row.get(1), status: row.get(2) }))
}

/// What a customer bought in all years, which takes 20 ms to read.
#[get("/customers/{id}/turnover")]
async fn show_turnover(db: web::Data<Pool>, id: web::Path<i32>) -> Result<web::Json<Turnover>, Error> {
    let client = db.get().await.map_err(ErrorInternalServerError)?;
    let query = client.prepare_cached("select archived_turnover($1)").await.map_err(ErrorInternalServerError)?;
    let row = client.query_one(&query, &[&*id]).await.map_err(ErrorInternalServerError)?;
    Ok(web::Json(Turnover { cents: row.get(0) }))
}

/// Seals a ticket on a thread for blocking work, with the fault on the worker that serves the connection.
#[post("/tickets/{id}")]
async fn seal_ticket(id: web::Path<u32>) -> Result<web::Json<Seal>, Error> {
    let ticket = *id;
    let seal = if fault("seal-on-worker") { seal(ticket, 500_000) } else { web::block(move || seal(ticket, 500_000)).await? };
    Ok(web::Json(Seal { ticket, seal }))
}

/// A receipt has a seal that is quickly made.
#[post("/receipts/{id}")]
async fn print_receipt(id: web::Path<u32>) -> web::Json<Seal> {
    web::Json(Seal { ticket: *id, seal: seal(*id, 25_000) })
}

fn seal(ticket: u32, rounds: u32) -> String {
    let mut sum = Sha256::digest(ticket.to_be_bytes());
    for _ in 0..rounds {
        sum = Sha256::digest(sum);
    }
    sum.iter().map(|b| format!("{b:02x}")).collect()
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let address = env::var("ADDR_DB").expect("ADDR_DB");
    let (host, port) = address.split_once(':').expect("host:port");
    let mut config = tokio_postgres::Config::new();
    config.host(host).port(port.parse().expect("a port")).user("shop").dbname("shop");
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let db = Pool::builder(manager).max_size(if fault("deadpool-small") { 2 } else { 16 }).build().expect("a pool");
    HttpServer::new(move || App::new().app_data(web::Data::new(db.clone())).service(show_order).service(show_turnover).service(seal_ticket).service(print_receipt))
        .workers(2)
        .shutdown_timeout(1)
        .bind(env::var("ADDR").expect("ADDR"))?
        .run()
        .await
}
