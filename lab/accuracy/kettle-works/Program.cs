using System;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace KettleWorks
{
    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(log => log.ClearProviders())
            .ConfigureServices(services => services.AddHostedService<Works>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app =>
                {
                    app.Map("/kettle", at => at.Run(Describe));
                    app.Map("/health", at => at.Run(CheckFurnaces));
                }))
            .Build()
            .RunAsync();

        static Task Describe(HttpContext context)
        {
            int number = int.Parse(context.Request.Path.Value.Trim('/'));
            var text = new StringBuilder("kettle " + number + ":");
            for (int part = 0; part < 120; part++)
                text.Append(" part ").Append(part).Append(" of ").Append((number + part * 31) % 900).Append(" g,");
            text.Append(" holds ").Append(Measure(number % 60 == 0 ? "a lot" : "" + number % 40)).Append(" pints\n");
            return context.Response.WriteAsync(text.ToString());
        }

        static int Measure(string written)
        {
            try
            {
                return int.Parse(written);
            }
            catch (FormatException)
            {
                return 50;
            }
        }

        static async Task CheckFurnaces(HttpContext context)
        {
            for (int furnace = 0; furnace < 25; furnace++)
                await Task.Delay(40, context.RequestAborted);
            await context.Response.WriteAsync("25 furnaces burn\n");
        }
    }
}
