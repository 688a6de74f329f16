using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace MarbleYard
{
    // An order of blocks of marble.
    public sealed class Order
    {
        public int Number { get; set; }
        public int Blocks { get; set; }
        public int Kilograms { get; set; }
    }

    // Weighs what is ordered: all blocks of an order in parallel, on threads of the pool that
    // wait for the scales. With FAULT=0 an order is weighed by two threads that are made for
    // it, and nobody of the pool waits.
    public sealed class Yard
    {
        const int BlocksPerOrder = 16;

        readonly Scales scales;
        readonly bool own = Environment.GetEnvironmentVariable("FAULT") == "0";

        public Yard(Scales scales) => this.scales = scales;

        public Task<Order> Weigh(int number)
        {
            int[] blocks = Enumerable.Range(number * BlocksPerOrder, BlocksPerOrder).ToArray();
            return own ? OnOwnThreads(number, blocks) : Task.FromResult(InParallel(number, blocks));
        }

        Order InParallel(int number, int[] blocks)
        {
            int all = 0;
            Parallel.ForEach(blocks, () => 0, (block, _, sum) => sum + scales.Weigh(block), sum => Interlocked.Add(ref all, sum));
            return new Order { Number = number, Blocks = blocks.Length, Kilograms = all };
        }

        async Task<Order> OnOwnThreads(int number, int[] blocks)
        {
            IEnumerable<Task<int>> halves = blocks.GroupBy(block => block % 2).Select(half => OnThread(() => half.Sum(scales.Weigh)));
            int[] sums = await Task.WhenAll(halves);
            return new Order { Number = number, Blocks = blocks.Length, Kilograms = sums.Sum() };
        }

        static Task<int> OnThread(Func<int> work)
        {
            var done = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
            new Thread(() =>
            {
                try
                {
                    done.SetResult(work());
                }
                catch (Exception e)
                {
                    done.SetException(e);
                }
            }) { IsBackground = true }.Start();
            return done.Task;
        }
    }

    [ApiController]
    [Route("order")]
    public sealed class OrderController : ControllerBase
    {
        readonly Yard yard;

        public OrderController(Yard yard) => this.yard = yard;

        [HttpGet("{number:int}")]
        public Task<Order> Get(int number) => yard.Weigh(number);
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services =>
                {
                    services.AddSingleton(new Scales(Environment.GetEnvironmentVariable("ADDR_SCALES")));
                    services.AddSingleton<Yard>();
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
