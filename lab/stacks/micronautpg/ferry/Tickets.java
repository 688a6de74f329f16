package ferry;

import jakarta.annotation.PostConstruct;
import jakarta.inject.Singleton;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/** Tickets are put into a queue, from which eight threads take them, with the fault one, and hand them to the printer, who takes 45 ms. */
@Singleton
class Tickets {
    private record Ticket(int booking, CompletableFuture<String> printed) {}

    private final BlockingQueue<Ticket> queue = new LinkedBlockingQueue<>();
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @PostConstruct
    void start() {
        int printers = Main.fault("one-printer") ? 1 : 8;
        for (int n = 0; n < printers; n++) {
            Thread thread = new Thread(this::print, "ticket-printer-" + n);
            thread.setDaemon(true);
            thread.start();
        }
    }

    CompletableFuture<String> print(int booking) {
        Ticket ticket = new Ticket(booking, new CompletableFuture<>());
        queue.add(ticket);
        return ticket.printed();
    }

    private void print() {
        try {
            while (true) {
                Ticket ticket = queue.take();
                try {
                    HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + System.getenv("ADDR_PRINTER") + "/tickets/" + ticket.booking())).build();
                    ticket.printed().complete(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
                } catch (IOException e) {
                    ticket.printed().completeExceptionally(e);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
