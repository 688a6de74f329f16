package till;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

class Articles extends HttpServlet {
    private static final long serialVersionUID = 1;
    private final transient DataSource db;

    Articles(DataSource db) {
        this.db = db;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
        try (Connection one = db.getConnection(); PreparedStatement query = one.prepareStatement("select name, price_cents from articles where id = ?")) {
            query.setInt(1, Main.id(request));
            try (ResultSet rows = query.executeQuery()) {
                if (!rows.next()) {
                    response.sendError(HttpServletResponse.SC_NOT_FOUND);
                    return;
                }
                response.setContentType("application/json");
                response.getWriter().printf("{\"name\":\"%s\",\"cents\":%d}%n", rows.getString(1), rows.getInt(2));
            }
        } catch (SQLException e) {
            throw new ServletException(e);
        }
    }
}
