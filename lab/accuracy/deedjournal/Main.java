import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Deeds: every line of a deed goes to a journal on disk before the clerk nods. A selector reads, eight writers write. */
public class Main {
    static final boolean CAREFUL = !"0".equals(System.getenv("FAULT"));
    static final int LINES = 24;

    public static void main(String[] args) throws IOException {
        String[] addr = System.getenv("ADDR").split(":");
        new Main().run(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])));
    }

    final ExecutorService writers = Executors.newFixedThreadPool(8, r -> new Thread(r, "journal-writer"));
    final ConcurrentLinkedQueue<SelectionKey> again = new ConcurrentLinkedQueue<>();
    final Path folder = Files.createTempDirectory(Path.of("").toAbsolutePath(), "journal");
    final ThreadLocal<FileChannel> journal = ThreadLocal.withInitial(this::open);

    Main() throws IOException {
        Runtime.getRuntime().addShutdownHook(new Thread(this::remove));
    }

    void run(InetSocketAddress at) throws IOException {
        Selector selector = Selector.open();
        ServerSocketChannel door = ServerSocketChannel.open().bind(at, 500);
        door.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        while (true) {
            selector.select();
            for (SelectionKey k; (k = again.poll()) != null; ) if (k.isValid()) k.interestOps(SelectionKey.OP_READ);
            for (SelectionKey key : selector.selectedKeys()) {
                if (!key.isValid()) continue;
                if (key.isAcceptable()) {
                    SocketChannel c = door.accept();
                    if (c == null) continue;
                    c.setOption(java.net.StandardSocketOptions.TCP_NODELAY, true);
                    c.configureBlocking(false).register(selector, SelectionKey.OP_READ, new ByteArrayOutputStream());
                } else if (key.isReadable() && whole(key)) {
                    key.interestOps(0);
                    writers.execute(() -> deed(key));
                }
            }
            selector.selectedKeys().clear();
        }
    }

    /** Reads what is there; true when the end of a request's head was seen. */
    boolean whole(SelectionKey key) {
        ByteArrayOutputStream seen = (ByteArrayOutputStream) key.attachment();
        ByteBuffer buffer = ByteBuffer.allocate(4096);
        try {
            int n = ((SocketChannel) key.channel()).read(buffer);
            if (n < 0) {
                key.channel().close();
                return false;
            }
        } catch (IOException e) {
            key.cancel();
            return false;
        }
        seen.write(buffer.array(), 0, buffer.position());
        return seen.toString(StandardCharsets.ISO_8859_1).contains("\r\n\r\n");
    }

    void deed(SelectionKey key) {
        try {
            ByteArrayOutputStream request = (ByteArrayOutputStream) key.attachment();
            String head = request.toString(StandardCharsets.ISO_8859_1);
            request.reset();
            append(head.substring(0, head.indexOf("\r\n")));
            ((SocketChannel) key.channel()).write(ByteBuffer.wrap("HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\ndone\n".getBytes()));
            again.add(key);
            key.selector().wakeup();
        } catch (IOException e) {
            key.cancel();
        }
    }

    void append(String deed) throws IOException {
        FileChannel file = journal.get();
        for (int line = 0; line < LINES; line++) {
            file.write(ByteBuffer.wrap((deed + " line " + line + "\n").getBytes()));
            if (CAREFUL) file.force(true);
        }
        if (file.size() > 1 << 20) file.truncate(0).position(0);
    }

    FileChannel open() {
        try {
            return FileChannel.open(Files.createTempFile(folder, "journal", ".log"), StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    void remove() {
        try (var files = Files.list(folder)) {
            for (Path p : (Iterable<Path>) files::iterator) Files.delete(p);
            Files.delete(folder);
        } catch (IOException e) {
            e.printStackTrace();
        }
    }
}
