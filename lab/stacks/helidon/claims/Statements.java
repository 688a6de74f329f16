package claims;

import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;

/** Statements of what a policy covers, with a number that the archive gives. */
class Statements {
    private static final int LONGEST = 6 << 20;
    /** A buffer for each thread. It is used once, as each request has a thread of its own. */
    private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[LONGEST]);

    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    void write(Main.Policy policy, ServerResponse response) throws IOException, InterruptedException {
        byte[] head = ("Statement of what is covered for " + policy.holder() + ", " + policy.street() + "\n" + policy.covers() + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] buffer = Main.fault("buffer-each") ? BUFFER.get() : new byte[1024];
        System.arraycopy(head, 0, buffer, 0, head.length);
        byte[] number = number(policy);
        System.arraycopy(number, 0, buffer, head.length, number.length);
        byte[] body = Arrays.copyOf(buffer, head.length + number.length);
        try (OutputStream out = response.header("Content-Type", "text/plain").outputStream()) {
            out.write(body);
        }
    }

    private byte[] number(Main.Policy policy) throws IOException, InterruptedException {
        URI at = URI.create("http://" + System.getenv("ADDR_ARCHIVE") + "/statements/" + policy.id());
        return client.send(HttpRequest.newBuilder(at).timeout(Duration.ofSeconds(20)).build(), HttpResponse.BodyHandlers.ofByteArray()).body();
    }
}
