package depots;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import java.util.Map;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.jooq.exception.DataAccessException;

/** Barrels that go from one depot to another. What leaves in the morning often comes back in the afternoon. */
class Transfers {
    private static final Logger LOG = Logger.getLogger("depots");
    private static final Table<Record> STOCKS = table(name("products"));
    private static final Field<Integer> DEPOT = field(name("id"), Integer.class);
    private static final Field<Integer> BARRELS = field(name("stock"), Integer.class);
    private final DSLContext sql;

    Transfers(DSLContext sql) {
        this.sql = sql;
    }

    Object transfer(int number) {
        int pair = number / 2 % 60 * 2;
        int from = pair + number % 2;
        int to = pair + 1 - number % 2;
        try {
            move(from, to);
        } catch (DataAccessException e) {
            if (!"40P01".equals(e.sqlState())) {
                throw e;
            }
            LOG.log(Level.INFO, "transfer {0} again: {1}", new Object[] {number, e.getMessage()});
            move(from, to);
        }
        return Map.of("from", from, "to", to);
    }

    private void move(int from, int to) {
        sql.transaction(work -> {
            // The depot with the lower number first, so that two transfers never wait for each other.
            boolean lower = from < to || Main.fault("crossed-locks");
            add(work.dsl(), lower ? from : to, lower ? -1 : 1);
            add(work.dsl(), lower ? to : from, lower ? 1 : -1);
        });
    }

    private static void add(DSLContext sql, int depot, int barrels) {
        sql.update(STOCKS).set(BARRELS, BARRELS.plus(barrels)).where(DEPOT.eq(depot)).execute();
    }
}
