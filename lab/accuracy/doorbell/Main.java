import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.impl.bootstrap.HttpServer;
import org.apache.hc.core5.http.impl.bootstrap.ServerBootstrap;
import org.apache.hc.core5.http.io.SocketConfig;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.http.protocol.HttpContext;

/** Doorbells: a phone asks and is answered when somebody rings, or after three seconds. */
public final class Main {
    private static final long PATIENCE = 3000;

    static final class Bell {
        private int rings;

        synchronized void ring() {
            rings++;
            notifyAll();
        }

        synchronized String listen() throws InterruptedException {
            int heard = rings;
            long end = System.nanoTime() / 1_000_000 + PATIENCE;
            for (long left = PATIENCE; rings == heard && left > 0; left = end - System.nanoTime() / 1_000_000) {
                wait(left);
            }
            return rings == heard ? "nobody" : "somebody";
        }
    }

    private static final Bell[] BELLS = new Bell[30];

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < BELLS.length; i++) {
            BELLS[i] = new Bell();
        }
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = ServerBootstrap.bootstrap().setLocalAddress(InetAddress.getByName(at[0])).setCanonicalHostName(at[0]).setListenerPort(Integer.parseInt(at[1]))
                .setSocketConfig(SocketConfig.custom().setTcpNoDelay(true).setSoTimeout(60, TimeUnit.SECONDS).build())
                .register("*", Main::handle).create();
        server.start();
        Thread.currentThread().join();
    }

    private static void handle(ClassicHttpRequest request, ClassicHttpResponse response, HttpContext context) throws HttpException, IOException {
        String[] path = request.getPath().split("/");
        int flat = Integer.parseInt(path[2]);
        String said = "flat " + flat;
        switch (path[1]) {
            case "ring" -> BELLS[flat].ring();
            case "wait" -> {
                try {
                    said = BELLS[flat].listen();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            default -> { }
        }
        response.setEntity(new StringEntity(said, ContentType.TEXT_PLAIN));
    }
}
