using System;
using System.Collections.Concurrent;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PawnShop
{
    // What was pawned, for how much.
    public sealed class Pledges
    {
        static readonly string[] things = { "watch", "violin", "ring", "camera", "fur coat", "bicycle" };

        readonly ConcurrentDictionary<int, decimal> lent = new ConcurrentDictionary<int, decimal>();
        readonly ILogger<Pledges> log;

        public Pledges(ILogger<Pledges> log) => this.log = log;

        public string Take(int ticket)
        {
            string thing = things[ticket % things.Length];
            log.LogInformation("ticket {Ticket}: a {Thing} is brought", ticket, thing);
            decimal value = 20 + ticket * 37 % 900;
            log.LogInformation("ticket {Ticket}: worth {Value}", ticket, value);
            lent[ticket] = value * 0.6m;
            log.LogInformation("ticket {Ticket}: {Lent} lent", ticket, lent[ticket]);
            return "ticket " + ticket + " for a " + thing + ": " + lent[ticket] + "\n";
        }

        public string Look(int ticket)
        {
            log.LogInformation("ticket {Ticket}: looked up", ticket);
            return lent.TryGetValue(ticket, out decimal sum) ? sum + "\n" : "no such ticket\n";
        }
    }

    public static class Program
    {
        public static Task Main(string[] args)
        {
            ThreadPool.SetMinThreads(64, 64);
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging
                    .ClearProviders()
                    .AddProvider(new LogShipper(Environment.GetEnvironmentVariable("ADDR_COLLECTOR")))
                    .AddFilter("Microsoft", LogLevel.Warning))
                .ConfigureServices(services => services.AddSingleton<Pledges>())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .Configure(app => app.UseRouting().UseEndpoints(Routes)))
                .Build()
                .RunAsync();
        }

        static void Routes(IEndpointRouteBuilder routes)
        {
            var pledges = routes.ServiceProvider.GetRequiredService<Pledges>();
            routes.MapPost("/pledge/{ticket:int}", context => context.Response.WriteAsync(pledges.Take(Ticket(context))));
            routes.MapGet("/pledge/{ticket:int}", context => context.Response.WriteAsync(pledges.Look(Ticket(context))));
        }

        static int Ticket(HttpContext context) => int.Parse((string)context.Request.RouteValues["ticket"]);
    }
}
