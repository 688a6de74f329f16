package depots;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Record3;
import org.jooq.Table;

/** What inns have ordered. */
class Orders {
    private static final Table<Record> ORDERS = table(name("orders"));
    private static final Table<Record> PRODUCTS = table(name("products"));
    private static final Field<Integer> ID = field(name("orders", "id"), Integer.class);
    private static final Field<Integer> CUSTOMER = field(name("orders", "customer_id"), Integer.class);
    private static final Field<Integer> PRODUCT = field(name("orders", "product_id"), Integer.class);
    private static final Field<Long> CENTS = field(name("orders", "total_cents"), Long.class);
    private static final Field<Integer> BEER = field(name("products", "id"), Integer.class);
    private static final Field<String> NAME = field(name("products", "name"), String.class);
    private final DSLContext sql;

    Orders(DSLContext sql) {
        this.sql = sql;
    }

    Object order(int id) {
        return sql.select(ID, CENTS).from(ORDERS).where(ID.eq(id)).fetchOneMap();
    }

    Object ofInn(int inn) {
        if (Main.fault("fetch-each")) {
            List<Record3<Integer, Long, Integer>> orders = sql.select(ID, CENTS, PRODUCT).from(ORDERS).where(CUSTOMER.eq(inn)).fetch();
            return orders.stream().map(order -> line(order.value1(), order.value2(), beer(order.value3()))).collect(Collectors.toList());
        }
        return sql.select(ID, CENTS, NAME).from(ORDERS).join(PRODUCTS).on(BEER.eq(PRODUCT)).where(CUSTOMER.eq(inn))
            .fetch(order -> line(order.value1(), order.value2(), order.value3()));
    }

    private String beer(int product) {
        return sql.select(NAME).from(PRODUCTS).where(BEER.eq(product)).fetchOne(NAME);
    }

    private static Map<String, Object> line(int order, long cents, String beer) {
        return Map.of("order", order, "cents", cents, "beer", beer);
    }
}
