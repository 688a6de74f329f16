package grocer;

import jakarta.inject.Singleton;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** Orders in PostgreSQL. */
@Singleton
public class OrderRepository {
    private final DataSource pool;

    OrderRepository(DataSource pool) {
        this.pool = pool;
    }

    Map<String, Object> find(int id) throws SQLException {
        return query("select status, total_cents from orders where id = ?", id, row -> {
            row.next();
            return Map.of("id", id, "status", row.getString(1), "cents", row.getLong(2));
        });
    }

    /** The turnover of a customer, which is read from slow storage in 20 ms. */
    long turnover(int customer) throws SQLException {
        return query("select archived_turnover(?)", customer, row -> {
            row.next();
            return row.getLong(1);
        });
    }

    Statement statement(int customer) throws SQLException {
        return query("select reference, total_cents, note from orders where customer_id = ? order by id", customer, row -> {
            List<Statement.Line> lines = new ArrayList<>();
            while (row.next()) {
                lines.add(new Statement.Line(row.getString(1), row.getLong(2), List.of(row.getString(3).split(" "))));
            }
            return new Statement(lines);
        });
    }

    private interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    private <T> T query(String sql, int key, Reader<T> reader) throws SQLException {
        try (Connection connection = pool.getConnection(); PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                return reader.read(rows);
            }
        }
    }
}
