using System;
using System.Linq;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace DiagnosticScenarios
{
    // An ordinary web API: it records nothing, measures nothing and logs nothing.
    //
    //   --port=N         where on 127.0.0.1 it serves; 0, as without it: a free one
    //   --control=true   it ends when its standard input does
    //
    // The first line it writes says where it serves.
    public static class Program
    {
        public static void Main(string[] args)
        {
            var options = new ConfigurationBuilder().AddCommandLine(args).Build();
            // No generic host: its lifetime waits for requests under way when the
            // process ends, which on a starved pool takes for ever.
            var host = new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://127.0.0.1:" + options.GetValue("port", 0))
                .ConfigureServices(services => services.AddControllers())
                .Configure(app => app.UseRouting().UseEndpoints(endpoints => endpoints.MapControllers()))
                .Build();
            host.Start();
            var address = new Uri(host.ServerFeatures.Get<IServerAddressesFeature>().Addresses.Single());
            Console.WriteLine("{\"serving\":\"" + address.Authority + "\"}");
            if (!options.GetValue("control", false))
                Thread.Sleep(Timeout.Infinite);
            while (Console.Read() >= 0) { }
        }
    }
}
