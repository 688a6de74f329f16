package seeds;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.sql.CallableStatement;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.apache.ibatis.type.BaseTypeHandler;
import org.apache.ibatis.type.JdbcType;

/** Reads findings from a column with JSON. With the fault each value is read by a mapper of its own. */
public class FindingsHandler extends BaseTypeHandler<Findings> {
    private static final ObjectMapper SHARED = new ObjectMapper();

    @Override
    public void setNonNullParameter(PreparedStatement statement, int index, Findings value, JdbcType type) throws SQLException {
        try {
            statement.setString(index, SHARED.writeValueAsString(value));
        } catch (JsonProcessingException e) {
            throw new SQLException(e);
        }
    }

    @Override
    public Findings getNullableResult(ResultSet rows, String column) throws SQLException {
        return read(rows.getString(column));
    }

    @Override
    public Findings getNullableResult(ResultSet rows, int column) throws SQLException {
        return read(rows.getString(column));
    }

    @Override
    public Findings getNullableResult(CallableStatement call, int column) throws SQLException {
        return read(call.getString(column));
    }

    private static Findings read(String text) throws SQLException {
        ObjectMapper mapper = Main.fault("mapper-each") ? new ObjectMapper() : SHARED;
        try {
            return text == null ? null : mapper.readValue(text, Findings.class);
        } catch (JsonProcessingException e) {
            throw new SQLException(e);
        }
    }
}
