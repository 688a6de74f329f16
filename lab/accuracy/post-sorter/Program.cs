using System;
using System.Collections.Concurrent;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PostSorter
{
    // Sorts parcels. Whoever sorts waits at the chute for the next parcel, on a thread of the
    // pool; there are plenty, since the pool was given as many more.
    public static class Program
    {
        const int Sorters = 18;

        static readonly BlockingCollection<int> chute = new BlockingCollection<int>(1000);
        static readonly int[] bags = new int[97];
        static int sorted;

        public static void Main(string[] args)
        {
            ThreadPool.SetMinThreads(40, 40);
            for (int i = 0; i < Sorters; i++)
                Task.Run(Sort);
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .Configure(app => app.Run(Answer)))
                .Build()
                .Run();
        }

        static Task Answer(HttpContext context)
        {
            string[] path = context.Request.Path.Value.Split('/');
            if (path[1] == "parcel")
                return context.Response.WriteAsync(chute.TryAdd(int.Parse(path[2])) ? "taken" : "come later");
            return context.Response.WriteAsync(Volatile.Read(ref sorted).ToString());
        }

        static void Sort()
        {
            foreach (int parcel in chute.GetConsumingEnumerable())
            {
                Interlocked.Increment(ref bags[parcel % bags.Length]);
                Interlocked.Increment(ref sorted);
            }
        }
    }
}
