package desk;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;

/** Sessions of pupils, which Java serializes into Redis. With the fault each holds all answers that the pupil ever gave. */
class Sessions {
    /** An answer to a question. */
    static final class Given implements Serializable {
        final int question;
        final String text;
        final Integer points;

        Given(int question) {
            this.question = question;
            this.text = "answer to question " + question;
            this.points = question % 300;
        }
    }

    /** What is known of a pupil who has logged in. */
    static final class Session implements Serializable {
        final int pupil;
        int visits;
        final List<Given> answers = new ArrayList<>();

        Session(int pupil) {
            this.pupil = pupil;
        }
    }

    private final JedisPool pool;

    Sessions(JedisPool pool) {
        this.pool = pool;
    }

    void start(Jedis jedis, int pupil) {
        Session session = new Session(pupil);
        for (int n = Main.fault("fat-session") ? 4000 : 10; n > 0; n--) {
            session.answers.add(new Given(n));
        }
        jedis.set(key(pupil), bytes(session));
    }

    /** Reads the session and writes it again, as each visit is counted in it. */
    String greet(int pupil) throws IOException, ClassNotFoundException {
        byte[] kept;
        try (Jedis jedis = pool.getResource()) {
            kept = jedis.get(key(pupil));
        }
        Session session;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(kept))) {
            session = (Session) in.readObject();
        }
        session.visits++;
        byte[] now = bytes(session);
        try (Jedis jedis = pool.getResource()) {
            jedis.set(key(pupil), now);
        }
        return "{\"pupil\":" + session.pupil + ",\"visits\":" + session.visits + ",\"answers\":" + session.answers.size() + "}";
    }

    private static byte[] key(int pupil) {
        return ("session:" + pupil).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] bytes(Session session) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(session);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return bytes.toByteArray();
    }
}
