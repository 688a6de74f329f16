import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** Leaks holds memory in one of the ways that are reported most, and writes a dump of its own heap: java Leaks map|threadlocal|loaders|listeners FILE. */
public class Leaks {
    static class Tariffs {
        static final Map<String, byte[]> CACHE = new HashMap<>();
    }

    static class Worker extends Thread {
        static final ThreadLocal<List<byte[]>> SEEN = ThreadLocal.withInitial(ArrayList::new);
        final CountDownLatch ready;

        Worker(CountDownLatch ready) {
            this.ready = ready;
            setDaemon(true);
        }

        @Override
        public void run() {
            for (int i = 0; i < 2000; i++) SEEN.get().add(new byte[1000]);
            ready.countDown();
            try {
                Thread.sleep(600_000);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** Deployment is the loader of an application of its own. */
    static class Deployment extends ClassLoader {
        Deployment() {
            super(Leaks.class.getClassLoader());
        }

        Class<?> load() throws Exception {
            try (InputStream in = Leaks.class.getResourceAsStream("Leaks$Plugin.class")) {
                byte[] code = in.readAllBytes();
                return defineClass("Leaks$Plugin", code, 0, code.length);
            }
        }
    }

    /** Plugin has what an application keeps in static fields. */
    public static class Plugin implements Runnable {
        static final byte[] CONFIGURATION = new byte[100_000];

        @Override
        public void run() {
            if (CONFIGURATION.length == 0) throw new IllegalStateException();
        }
    }

    static class Bus {
        static final List<Object> HOOKS = new ArrayList<>();
        final List<Panel> listeners = new ArrayList<>();
    }

    static class Panel {
        final byte[] picture = new byte[2000];
    }

    public static void main(String[] args) throws Exception {
        Object held = null;
        switch (args[0]) {
            case "map":
                for (int i = 0; i < 8000; i++) Tariffs.CACHE.put("tariff " + i, new byte[1000]);
                break;
            case "threadlocal":
                CountDownLatch ready = new CountDownLatch(4);
                for (int i = 0; i < 4; i++) new Worker(ready).start();
                ready.await();
                break;
            case "loaders":
                for (int i = 0; i < 40; i++) Bus.HOOKS.add(new Deployment().load().getDeclaredConstructor().newInstance());
                for (Object hook : Bus.HOOKS) ((Runnable) hook).run();
                break;
            default:
                Bus bus = new Bus();
                for (int i = 0; i < 4000; i++) bus.listeners.add(new Panel());
                held = bus;
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[1], true);
        if (held != null) System.out.println(((Bus) held).listeners.size());
    }
}
