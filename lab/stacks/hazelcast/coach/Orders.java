package coach;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What was ordered. */
class Orders extends HttpServlet {
    private final transient HikariDataSource db;

    Orders(HikariDataSource db) {
        this.db = db;
    }

    static int last(HttpServletRequest request) {
        return Integer.parseInt(request.getPathInfo().substring(1));
    }

    static void answer(HttpServletResponse response, String json) throws IOException {
        response.setContentType("application/json");
        response.getWriter().println(json);
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement("select total_cents from orders where id = ?")) {
            query.setInt(1, last(request));
            try (ResultSet rows = query.executeQuery()) {
                answer(response, "{\"cents\":" + (rows.next() ? rows.getLong(1) : 0) + "}");
            }
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }
}
