package grocer;

import jakarta.inject.Singleton;
import java.sql.SQLException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Statements of those customers who looked last: of 40; with the fault of so many that they fill the heap. */
@Singleton
public class StatementCache {
    private final OrderRepository orders;
    private final int limit = Main.fault("cache-fills-heap") ? 480 : 40;
    private final Map<Integer, Statement> known = Collections.synchronizedMap(new LinkedHashMap<>(64, .75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Statement> eldest) {
            return size() > limit;
        }
    });

    StatementCache(OrderRepository orders) {
        this.orders = orders;
    }

    Statement of(int customer) throws SQLException {
        Statement statement = known.get(customer);
        if (statement == null) {
            statement = orders.statement(customer);
            known.put(customer, statement);
        }
        return statement;
    }
}
