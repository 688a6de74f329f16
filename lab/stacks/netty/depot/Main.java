package depot;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A depot of parcels on Netty: places of parcels in Redis by Lettuce, customs over HTTP. */
public class Main {
    private static final String FAULT = System.getenv().getOrDefault("FAULT", "off");
    private static final int PARCELS = 60_000;

    static boolean fault(String name) {
        return FAULT.equals(name);
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        RedisAsyncCommands<String, String> redis = RedisClient.create("redis://" + System.getenv("ADDR_REDIS")).connect().async();
        fill(redis);

        Parcels parcels = new Parcels(redis, new Customs(System.getenv("ADDR_CUSTOMS")));
        // What may block runs on threads of its own. Of a group of Netty each connection has one thread, of a pool any that is free.
        DefaultEventExecutorGroup group = new DefaultEventExecutorGroup(8, new DefaultThreadFactory("depot-handler"));
        ExecutorService pool = Executors.newFixedThreadPool(24, new DefaultThreadFactory("depot-pool"));
        NioEventLoopGroup acceptor = new NioEventLoopGroup(1);
        NioEventLoopGroup workers = new NioEventLoopGroup(2);
        String[] at = System.getenv("ADDR").split(":");
        Channel server = new ServerBootstrap().group(acceptor, workers).channel(NioServerSocketChannel.class).option(ChannelOption.SO_BACKLOG, 512)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    ChannelPipeline line = channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65_536));
                    if (fault("pinned-threads")) {
                        line.addLast(group, new Routes(parcels, Runnable::run));
                    } else {
                        line.addLast(new Routes(parcels, pool));
                    }
                }
            }).bind(at[0], Integer.parseInt(at[1])).sync().channel();
        server.closeFuture().sync();
    }

    /** Writes where each parcel is, as a field of one hash. */
    private static void fill(RedisAsyncCommands<String, String> redis) throws InterruptedException, ExecutionException {
        Map<String, String> places = new HashMap<>();
        for (int n = 0; n < PARCELS; n++) {
            places.put("parcel-" + n, "shelf " + n % 977);
            if (places.size() == 4000 || n == PARCELS - 1) {
                redis.hset("places", places).get();
                places.clear();
            }
        }
        for (int depot = 0; depot < 40; depot++) {
            redis.set("count:" + depot, String.valueOf(PARCELS / 40)).get();
        }
    }
}
