import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Departures: boards are read by many; each report of a delay sorts the whole timetable while nobody may read. */
public class Main {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock(true);
    private final TreeMap<Integer, List<String>> timetable = new TreeMap<>();
    private final boolean wholesale = !"0".equals(System.getenv("FAULT"));

    public static void main(String[] args) throws IOException {
        new Main().listen(System.getenv("ADDR").split(":"));
    }

    void listen(String[] addr) throws IOException {
        for (int minute = 0; minute < 1440; minute++) {
            List<String> trains = new ArrayList<>();
            for (int t = 0; t < 8; t++) trains.add("RE" + (minute * 31 + t * 7) % 9973);
            timetable.put(minute, trains);
        }
        ServerSocket server = new ServerSocket();
        server.bind(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])), 1000);
        ExecutorService clients = Executors.newCachedThreadPool();
        while (true) {
            Socket socket = server.accept();
            clients.execute(() -> converse(socket));
        }
    }

    void converse(Socket socket) {
        byte[] buffer = new byte[8192];
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            int n;
            while ((n = in.read(buffer)) > 0) { // the clients of this house send a request at once
                String request = new String(buffer, 0, n, StandardCharsets.US_ASCII);
                int minute = Math.floorMod(request.substring(0, request.indexOf('\r')).hashCode(), 1440);
                String body = request.startsWith("POST") ? delay(minute) : board(minute);
                out.write(("HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // the client left
        }
    }

    String board(int minute) {
        lock.readLock().lock();
        try {
            StringBuilder text = new StringBuilder();
            timetable.tailMap(minute).values().stream().limit(10).forEach(trains -> text.append(trains).append('\n'));
            return text.toString();
        } finally {
            lock.readLock().unlock();
        }
    }

    String delay(int minute) {
        lock.writeLock().lock();
        try {
            int moved = 0;
            for (List<String> trains : (wholesale ? timetable : timetable.subMap(minute, minute + 1)).values()) {
                trains.sort((a, b) -> Integer.compare(order(a, minute), order(b, minute)));
                moved += trains.size();
            }
            return "moved " + moved;
        } finally {
            lock.writeLock().unlock();
        }
    }

    static int order(String train, int minute) {
        int h = minute;
        for (int i = 0; i < 8; i++) h = h * 31 + train.substring(2).concat("+" + i).hashCode();
        return h;
    }
}
