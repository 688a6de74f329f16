using System;
using System.Globalization;
using System.Linq;
using System.Threading;
using MemoryGuard;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Tracker
{
    // The API of a tracker of tasks: a public one whose answers are made whole before they
    // are sent, as base64 in XML, and the one of its own clients, whose answers are written
    // as they are made.
    //
    //   --tasks=N            how many tasks it keeps in memory
    //   --collections=K      what a client's cache is made of: standard, chunked
    //   --answers=K          how public answers are made: buffered, streamed
    //   --limit=PERCENT      of the memory it may have, above which a library has it collected;
    //                        without it nobody watches that
    //   --recent=MB          what a cache of recent answers may hold; without it there is none
    //   --listeners=true     every request leaves one that is never taken back
    //   --port=N             where on 127.0.0.1 it serves; 0, as without it: a free one
    //   --control=true       it ends when its standard input does
    //
    // The first line it writes says where it serves, the last, and one for each line it reads,
    // how often each generation was collected; a collection counts for the younger ones, too.
    public static class Program
    {
        public static void Main(string[] args)
        {
            var options = new ConfigurationBuilder().AddCommandLine(args).Build();
            var store = new TaskStore(options.GetValue("tasks", 200_000));
            var caches = options.GetValue("collections", "standard") == "chunked" ? (IClientCaches)new ChunkedCaches(store) : new StandardCaches(store);
            var answers = options.GetValue("answers", "buffered") == "streamed" ? (IAnswers)new StreamedAnswers() : new BufferedAnswers();
            var recent = new Recent(options.GetValue("recent", 0L) << 20);
            var listeners = options.GetValue("listeners", false);
            PrivateBytesMonitor monitor = null;
            if (options.GetValue("limit", 0) is var limit && limit > 0)
            {
                monitor = new PrivateBytesMonitor(limit);
                monitor.Subscribe(new CollectingObserver());
            }
            var api = new PublicApi(caches, answers, store);
            var own = new ClientApi(store, recent, listeners);
            var host = new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://127.0.0.1:" + options.GetValue("port", 0))
                .ConfigureServices(services => services.AddRouting())
                .Configure(app => app.UseRouting().UseEndpoints(endpoints =>
                {
                    endpoints.MapGet("/public/clients/{user:int}", api.ClientCache);
                    endpoints.MapGet("/tasks/{user:int}", own.Tasks);
                }))
                .Build();
            host.Start();
            var address = new Uri(host.ServerFeatures.Get<IServerAddressesFeature>().Addresses.Single());
            Console.WriteLine("{\"serving\":\"" + address.Authority + "\"}");
            if (!options.GetValue("control", false))
                Thread.Sleep(Timeout.Infinite);
            while (Console.ReadLine() != null)
                Tell();
            Tell();
            GC.KeepAlive(monitor);
        }

        private static void Tell() =>
            Console.WriteLine("{\"collections\":[" + GC.CollectionCount(0) + "," + GC.CollectionCount(1) + "," + GC.CollectionCount(2) + "],\"paused_ms\":" + Paused() + "}");

        // How long collections paused it, which .NET 7 and later know.
        private static string Paused()
        {
            var total = typeof(GC).GetMethod("GetTotalPauseDuration")?.Invoke(null, null);
            return total == null ? "null" : ((TimeSpan)total).TotalMilliseconds.ToString("F3", CultureInfo.InvariantCulture);
        }
    }
}
