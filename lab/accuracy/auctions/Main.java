import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Auctions: a bid is put among the others of its lot, and the whole room is locked for it. */
public class Main {
    static final class Bid {
        final String bidder;
        final long cents;
        Bid(String bidder, long cents) { this.bidder = bidder; this.cents = cents; }
    }

    static final class Room {
        final Lock hammer = new ReentrantLock();
        final List<Bid> bids = new ArrayList<>();

        String place(Bid bid) {
            hammer.lock();
            try {
                bids.add(bid);
                if (bids.size() > 450) bids.subList(0, 50).clear();
                return standing();
            } finally {
                hammer.unlock();
            }
        }

        private String standing() {
            List<Bid> ranked = new ArrayList<>(bids);
            ranked.sort(Comparator.comparing((Bid b) -> String.format("%012d", b.cents)).thenComparing(b -> b.bidder));
            return ranked.get(ranked.size() - 1).bidder + " leads of " + ranked.size();
        }
    }

    public static void main(String[] args) throws IOException {
        Room[] rooms = new Room["0".equals(System.getenv("FAULT")) ? 100 : 1];
        for (int i = 0; i < rooms.length; i++) rooms[i] = new Room();
        String[] addr = System.getenv("ADDR").split(":");
        try (ServerSocket door = new ServerSocket()) {
            door.bind(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 800);
            for (int n = 1; ; n++) {
                Socket bidder = door.accept();
                Thread t = new Thread(() -> hear(bidder, rooms), "bidder-" + n);
                t.setDaemon(true);
                t.start();
            }
        }
    }

    static void hear(Socket bidder, Room[] rooms) {
        try (bidder) {
            bidder.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(bidder.getInputStream());
            OutputStream out = bidder.getOutputStream();
            byte[] buffer = new byte[4096];
            for (int n; (n = in.read(buffer)) > 0; ) {
                String request = new String(buffer, 0, n, StandardCharsets.US_ASCII);
                int who = request.substring(0, request.indexOf("HTTP/")).hashCode();
                String body = rooms[Math.floorMod(who, rooms.length)].place(new Bid("bidder-" + Math.floorMod(who, 5000), Math.floorMod(who * 31L, 900_000L)));
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // gone
        }
    }
}
