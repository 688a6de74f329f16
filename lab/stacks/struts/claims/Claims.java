package claims;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Claims in PostgreSQL. */
final class Claims {
    private static HikariDataSource pool;

    static void connect() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + System.getenv("ADDR_DB") + "/shop");
        config.setUsername("shop");
        config.setMaximumPoolSize(12);
        pool = new HikariDataSource(config);
    }

    static List<Claim> find(String where, int number) throws SQLException {
        try (Connection c = pool.getConnection();
                PreparedStatement find = c.prepareStatement("select id, reference, status, quantity, total_cents, note from orders where " + where)) {
            find.setInt(1, number);
            List<Claim> found = new ArrayList<>();
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found.add(new Claim(row.getInt(1), row.getString(2), row.getString(3), row.getInt(4), row.getLong(5), row.getString(6)));
                }
            }
            return found;
        }
    }

    private Claims() {}
}
