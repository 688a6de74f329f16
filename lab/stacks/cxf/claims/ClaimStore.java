package claims;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The claims in MariaDB. */
public class ClaimStore {
    private final DataSource db;

    ClaimStore(DataSource db) {
        this.db = db;
    }

    Claim find(int id) throws SQLException {
        try (Connection one = db.getConnection()) {
            return find(one, id);
        }
    }

    private static Claim find(Connection one, int id) throws SQLException {
        try (PreparedStatement query = one.prepareStatement("select policy, cents, state, note from claims where id = ?")) {
            query.setInt(1, id);
            try (ResultSet found = query.executeQuery()) {
                if (!found.next()) {
                    throw new SQLException("no claim " + id);
                }
                Claim claim = new Claim();
                claim.id = id;
                claim.policy = found.getString(1);
                claim.cents = found.getLong(2);
                claim.state = found.getString(3);
                Claim.Note note = new Claim.Note();
                note.clerk = "clerk " + id % 40;
                note.text = found.getString(4);
                claim.notes.add(note);
                return claim;
            }
        }
    }

    String reserve(int id) throws SQLException {
        Connection one = db.getConnection();
        Claim claim = find(one, id);
        if (!claim.state.equals("open") && claim.cents % 5 == 0) { // these go to the lawyers
            if (!Main.fault("never-closed")) {
                one.close();
            }
            return "dispute";
        }
        try (PreparedStatement update = one.prepareStatement("update claims set cents = cents + 1 where id = ?")) {
            update.setInt(1, id);
            update.executeUpdate();
            return "reserved";
        } finally {
            one.close();
        }
    }
}
