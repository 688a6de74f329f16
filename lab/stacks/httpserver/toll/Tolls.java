package toll;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** Roads with their tolls, and what vehicles owe. */
class Tolls {
    private final DataSource source;

    Tolls(DataSource source) {
        this.source = source;
    }

    List<Map<String, Object>> road(String id) throws SQLException {
        return query("select name, cents from roads where id = ?", Integer.parseInt(id));
    }

    List<Map<String, Object>> bill(String vehicle) throws SQLException {
        return query("select r.name, p.cents from passages p join roads r on r.id = p.road_id where p.plate = ? limit 40", "P-" + vehicle);
    }

    private List<Map<String, Object>> query(String sql, Object value) throws SQLException {
        try (Connection connection = source.getConnection(); PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setObject(1, value);
            List<Map<String, Object>> found = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(Map.of("road", rows.getString(1), "cents", rows.getInt(2)));
                }
            }
            return found;
        }
    }
}
