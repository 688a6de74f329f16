import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Letters that are worded by plug-ins: for a letter to Vienna the classes Wording_de_AT, Wording_de
 * and Wording are looked for in this order, and most customers have only the last. The loader of
 * plug-ins looks through its archives for each class that is missing, again for each letter, and
 * one thread after the other, as a class loader does that is not registered as parallel capable.
 * With FAULT=0 it is remembered which are missing: p50 and p99 of letters are 0.4 and 3.0 ms
 * instead of 5.2 and 63 ms.
 */
public class Main {
    private static final boolean REMEMBERS = "0".equals(System.getenv("FAULT"));
    private static final Set<String> MISSING = ConcurrentHashMap.newKeySet();

    /** Wording of letters for everybody. */
    public static class Wording {
        @Override public String toString() {
            return "Dear Sir or Madam";
        }
    }

    static final class PluginLoader extends ClassLoader {
        private final List<Path> archives;

        PluginLoader(List<Path> archives) {
            super("plugins", Main.class.getClassLoader());
            this.archives = archives;
        }

        @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            for (Path archive : archives) {
                try (ZipFile zip = new ZipFile(archive.toFile())) {
                    ZipEntry entry = zip.getEntry(file);
                    if (entry != null) {
                        try (InputStream in = zip.getInputStream(entry)) {
                            byte[] code = in.readAllBytes();
                            return defineClass(name, code, 0, code.length);
                        }
                    }
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            throw new ClassNotFoundException(name);
        }
    }

    private static PluginLoader plugins;

    public static void main(String[] args) throws IOException {
        plugins = new PluginLoader(List.of(archive("customers"), archive("partners")));
        String[] at = System.getenv("ADDR").split(":");
        HttpServer server = HttpServer.create(new InetSocketAddress(at[0], Integer.parseInt(at[1])), 500);
        server.createContext("/letter/", Main::letter);
        server.createContext("/postage", x -> send(x, "0.95"));
        server.setExecutor(Executors.newFixedThreadPool(80));
        server.start();
    }

    /** Writes an archive of plug-ins, as they are delivered with pictures and texts. */
    private static Path archive(String name) throws IOException {
        Path file = Files.createTempFile(name, ".jar");
        file.toFile().deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file); ZipOutputStream zip = new ZipOutputStream(new BufferedOutputStream(out))) {
            for (int i = 0; i < 6000; i++) {
                zip.putNextEntry(new ZipEntry("resources/" + name + "/part-" + i % 40 + "/letterhead-" + i + ".txt"));
                zip.write(i);
                zip.closeEntry();
            }
        }
        return file;
    }

    private static void letter(HttpExchange x) throws IOException {
        String customer = x.getRequestURI().getPath().substring("/letter/".length());
        send(x, wording("de_AT") + ", customer " + customer);
    }

    private static Object wording(String locale) throws IOException {
        for (String name = "Main$Wording_" + locale; ; name = name.substring(0, name.lastIndexOf('_'))) {
            if (REMEMBERS && MISSING.contains(name)) {
                continue;
            }
            try {
                return Class.forName(name, true, plugins).getConstructor().newInstance();
            } catch (ClassNotFoundException e) {
                MISSING.add(name);
            } catch (ReflectiveOperationException e) {
                throw new IOException(e);
            }
        }
    }

    private static void send(HttpExchange x, String text) throws IOException {
        byte[] body = text.getBytes();
        x.sendResponseHeaders(200, body.length);
        x.getResponseBody().write(body);
        x.close();
    }
}
