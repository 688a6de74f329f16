package ferry;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import jakarta.inject.Singleton;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Bookings are orders of the shop, sailings its products with their free places as stock. */
@Singleton
class Bookings {
    private static final int ALL_SAILINGS = 0;

    private final Pool pool;

    Bookings(Pool pool) {
        this.pool = pool;
    }

    Future<Map<String, Object>> find(int id) {
        return pool.preparedQuery("select id, status, total_cents from orders where id = $1").execute(Tuple.of(id % 300_000)).map(rows -> all(rows).get(0));
    }

    Future<List<Map<String, Object>>> ofCustomer(int id) {
        return pool.preparedQuery("select o.id, p.name, o.total_cents from orders o join products p on p.id = o.product_id where o.customer_id = $1 order by o.id desc limit 30")
            .execute(Tuple.of(id % 1500)).map(Bookings::all);
    }

    /**
     * Takes a place of a sailing, and reads what the passenger has paid in earlier years from slow storage in 20 ms, for the rebate. With the fault
     * the places of all sailings are counted in one row, too, before that.
     */
    Future<Map<String, Object>> board(int id) {
        return pool.withTransaction(c -> countAll(c)
            .compose(done -> c.preparedQuery("select archived_turnover($1) as cents").execute(Tuple.of(id % 1500)))
            .compose(paid -> take(c, 1 + id % 1999).map(taken -> Map.<String, Object>of("sailing", id % 1999, "paid", paid.iterator().next().getLong(0)))));
    }

    private Future<?> countAll(SqlConnection c) {
        return Main.fault("count-of-all") ? take(c, ALL_SAILINGS) : Future.succeededFuture();
    }

    private static Future<RowSet<Row>> take(SqlConnection c, int sailing) {
        return c.preparedQuery("update products set stock = stock - 1 where id = $1").execute(Tuple.of(sailing));
    }

    /** The load of each day of the year, from all bookings. */
    Future<List<Map<String, Object>>> days() {
        return pool.query("select extract(doy from placed_at)::int as day, sum(quantity)::bigint as passengers from orders group by 1 order by 1").execute().map(Bookings::all);
    }

    private static List<Map<String, Object>> all(RowSet<Row> rows) {
        List<Map<String, Object>> found = new ArrayList<>(rows.size());
        for (Row row : rows) {
            Map<String, Object> one = new LinkedHashMap<>();
            for (int n = 0; n < row.size(); n++) {
                one.put(row.getColumnName(n), row.getValue(n));
            }
            found.add(one);
        }
        return found;
    }
}
