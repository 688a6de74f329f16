package theatre;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** Plays and performances in MariaDB. */
class Programme {
    private static final int PLAYS = 2000;
    private static final int PERFORMANCES = 30_000;
    private static final int PAGE = 50;

    private final DataSource pool;

    /** A performance as it is sent. */
    public record Performance(int id, int play, int hall, String startsAt, int cents) {
    }

    Programme(DataSource pool) {
        this.pool = pool;
    }

    Object play(int id) {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement("select title, author, minutes from plays where id = ?")) {
            statement.setInt(1, id % PLAYS);
            try (ResultSet found = statement.executeQuery()) {
                return found.next() ? Map.of("title", found.getString(1), "author", found.getString(2), "minutes", found.getInt(3)) : Map.of();
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The next performances from a day on: a page of them, with the fault all until the end of the season. */
    List<Performance> season(int id) {
        int from = id % (PERFORMANCES / 3);
        int to = Main.fault("whole-season") ? from + PERFORMANCES / 3 * 2 : from + PAGE;
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement("select id, play_id, hall, starts_at, cents from performances where id >= ? and id < ? order by id")) {
            statement.setInt(1, from);
            statement.setInt(2, to);
            try (ResultSet found = statement.executeQuery()) {
                List<Performance> all = new ArrayList<>();
                while (found.next()) {
                    all.add(new Performance(found.getInt(1), found.getInt(2), found.getInt(3), found.getTimestamp(4).toLocalDateTime().toString(), found.getInt(5)));
                }
                return all;
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
