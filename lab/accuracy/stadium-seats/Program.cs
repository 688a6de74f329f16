using System;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace StadiumSeats
{
    public sealed class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddSingleton<Stadium>();
            services.AddRouting();
        }

        public void Configure(IApplicationBuilder app, Stadium stadium)
        {
            app.Map("/best", best => best.Run(context => Best(context, stadium)));
            app.Run(context => context.Response.WriteAsync("ask for /best/STAND/SEATS"));
        }

        static Task Best(HttpContext context, Stadium stadium)
        {
            string[] parts = context.Request.Path.Value.Split('/', StringSplitOptions.RemoveEmptyEntries);
            int stand = int.Parse(parts[0]) % Stadium.Stands, seats = int.Parse(parts[1]);
            return context.Response.WriteAsync("row " + stadium.Hold(stand, seats));
        }

        public static void Main() => new WebHostBuilder()
            .UseKestrel(kestrel => kestrel.AddServerHeader = false)
            .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
            .UseShutdownTimeout(TimeSpan.FromSeconds(1))
            .UseStartup<Startup>()
            .Build()
            .Run();
    }
}
