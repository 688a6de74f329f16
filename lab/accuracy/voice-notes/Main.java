import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.microhttp.EventLoop;
import org.microhttp.Header;
import org.microhttp.NoopLogger;
import org.microhttp.Options;
import org.microhttp.OptionsBuilder;
import org.microhttp.Request;
import org.microhttp.Response;

/** Voice notes: an index of all that were ever left, and a transcoder for whoever listens to one. */
public final class Main {
    private static final int SAMPLES = 192 << 10;
    private static final boolean KEEP = "0".equals(System.getenv("FAULT"));
    private static final ThreadLocal<ByteBuffer> KEPT = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(SAMPLES));

    record Note(String from, String to, List<Integer> marks) {}

    private final Map<Integer, Note> index = new HashMap<>();
    private final ExecutorService players = Executors.newFixedThreadPool(24, r -> new Thread(r, "player"));

    public static void main(String[] args) throws IOException {
        Main main = new Main();
        main.fill();
        String[] at = System.getenv("ADDR").split(":");
        Options options = OptionsBuilder.newBuilder().withHost(at[0]).withPort(Integer.parseInt(at[1])).withConcurrency(1).build();
        new EventLoop(options, NoopLogger.instance(), main::handle).start();
    }

    private void fill() {
        for (int i = 0; i < 420_000; i++) {
            List<Integer> marks = new ArrayList<>();
            for (int m = 0; m < 8; m++) {
                marks.add(i * 31 + m * 977);
            }
            index.put(i, new Note("caller-" + i % 9000, "box-" + i, marks));
        }
    }

    private void handle(Request request, Consumer<Response> answer) {
        players.execute(() -> {
            String[] path = request.uri().split("/");
            int id = Integer.parseInt(path[2]);
            String said = path[1].equals("note") ? "checksum " + transcode(id) : index.get(id).toString();
            answer.accept(new Response(200, "OK", List.of(new Header("Content-Type", "text/plain")), said.getBytes()));
        });
    }

    /** A saw tooth in place of what was recorded, and its sum in place of what is sent. */
    private static long transcode(int id) {
        ByteBuffer samples = KEEP ? KEPT.get().clear() : ByteBuffer.allocateDirect(SAMPLES);
        while (samples.remaining() >= 8) {
            samples.putLong(id * 0x9E3779B97F4A7C15L + samples.position());
        }
        samples.flip();
        long sum = 0;
        while (samples.remaining() >= 8) {
            sum = Long.rotateLeft(sum, 5) ^ samples.getLong();
        }
        return sum;
    }
}
