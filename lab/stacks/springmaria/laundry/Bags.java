package laundry;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.stereotype.Repository;

@Repository
public class Bags {
    record Bag(int id, int kind, long cents, String note) {}

    private static final RowMapper<Bag> MAPPER = (row, n) -> new Bag(row.getInt(1), row.getInt(2), row.getLong(3), row.getString(4));
    private static final String COLUMNS = "select id, product_id, total_cents, note from orders ";

    private final JdbcTemplate jdbc;

    Bags(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    Bag find(int id) {
        return jdbc.queryForObject(COLUMNS + "where id = ?", MAPPER, id);
    }

    List<Bag> ofCustomer(int customer) {
        return jdbc.query(COLUMNS + "where customer_id = ? order by id desc limit 25", MAPPER, customer);
    }
}
