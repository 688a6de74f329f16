package policies;

import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;

/** Claims of customers in PostgreSQL, and what they are worth at the rates of their days. */
@Repository
class Claims {
    private static final int LATEST = 24;

    private final JdbcTemplate jdbc;
    private final RatesClient rates;

    Claims(JdbcTemplate jdbc, RatesClient rates) {
        this.jdbc = jdbc;
        this.rates = rates;
    }

    Map<String, Object> policy(int id) {
        return jdbc.queryForMap("select id, customer_id, total_cents, status from orders where id = ?", id);
    }

    List<Map<String, Object>> ofCustomer(int customer) {
        return jdbc.queryForList("select id, total_cents, status from orders where customer_id = ? order by id desc limit " + LATEST, customer);
    }

    /** The worth of a customer's latest claims at the rate of each one's day: all rates by one call, with the fault by one call each. */
    Map<String, Object> worth(int customer) {
        List<Integer> days = ofCustomer(customer).stream().map(claim -> (Integer) claim.get("id") / 480).toList();
        if (Main.fault("call-each")) {
            long cents = days.stream().mapToLong(day -> rates.rate(day).cents()).sum();
            return Map.of("customer", customer, "cents", cents);
        }
        int cents = rates.rates(days).cents();
        return Map.of("customer", customer, "cents", IntStream.range(0, days.size()).mapToLong(n -> cents + n).sum());
    }
}
