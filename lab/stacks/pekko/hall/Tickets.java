package hall;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Tickets and visitors in PostgreSQL. */
class Tickets {
    private final DataSource db;

    Tickets(DataSource db) {
        this.db = db;
    }

    String ticket(int id) {
        return first("select status from orders where id = ?", id);
    }

    /** What a visitor has spent is kept on slow storage: it takes 20 ms. */
    String spent(int visitor) {
        return first("select archived_turnover(?)", visitor);
    }

    private String first(String sql, int id) {
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement(sql)) {
            query.setInt(1, id);
            try (ResultSet rows = query.executeQuery()) {
                return "{\"value\":\"" + (rows.next() ? rows.getString(1) : "") + "\"}";
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
