package taxi;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;

/** Rides are orders of the shop, cars its products. */
class Rides {
    private static final String RAISE = "update products set price_cents = price_cents + 1 where id % 2 = 0";

    private final Vertx vertx;
    private final Partners partners;
    private final Pool pool;

    Rides(Vertx vertx, Partners partners) {
        this.vertx = vertx;
        this.partners = partners;
        String[] at = System.getenv("ADDR_DB").split(":");
        PgConnectOptions options = new PgConnectOptions().setHost(at[0]).setPort(Integer.parseInt(at[1])).setDatabase("shop").setUser("shop").setPassword("shop").setCachePreparedStatements(true);
        pool = PgBuilder.pool().with(new PoolOptions().setMaxSize(30)).connectingTo(options).using(vertx).build();
    }

    Future<JsonObject> find(int id) {
        return pool.preparedQuery("select id, status, total_cents from orders where id = $1").execute(Tuple.of(id % 300_000)).map(rows -> first(rows));
    }

    Future<JsonArray> ofCustomer(int id) {
        return pool.preparedQuery("select o.id, p.name, o.total_cents from orders o join products p on p.id = o.product_id where o.customer_id = $1 order by o.id desc limit 25")
            .execute(Tuple.of(id % 1500)).map(Rides::all);
    }

    Future<JsonArray> months() {
        return pool.query("select date_trunc('month', placed_at)::text as month, sum(total_cents)::bigint as cents from orders group by 1 order by 1").execute().map(Rides::all);
    }

    Future<JsonObject> assign(int car) {
        return pool.withTransaction(c -> c.preparedQuery("update products set stock = stock - 1 where id = $1 returning id, stock").execute(Tuple.of(car % 2000)).map(rows -> first(rows)));
    }

    /** Settles what the cars of one owner, half of all, have earned, three seconds after it did so last. */
    void settleRegularly() {
        vertx.setTimer(3000, timer -> settle().onComplete(done -> settleRegularly()));
    }

    /** The bank is asked before the transaction, with the fault within it. */
    private Future<Void> settle() {
        if (Main.fault("bank-before-commit")) {
            return pool.withTransaction(c -> raise(c).compose(rows -> partners.settle()));
        }
        return partners.settle().compose(done -> pool.withTransaction(this::raise)).mapEmpty();
    }

    private Future<RowSet<Row>> raise(SqlConnection c) {
        return c.query(RAISE).execute();
    }

    private static JsonObject first(RowSet<Row> rows) {
        return rows.size() == 0 ? new JsonObject() : rows.iterator().next().toJson();
    }

    private static JsonArray all(RowSet<Row> rows) {
        JsonArray found = new JsonArray();
        rows.forEach(row -> found.add(row.toJson()));
        return found;
    }
}
