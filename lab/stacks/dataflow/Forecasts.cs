using System;
using System.Net.Http;
using System.Threading.Tasks;
using System.Threading.Tasks.Dataflow;

namespace Weather
{
    // Forecasts, which a computing centre makes in 32 ms each. Requests post what they want to a block, and wait for it.
    public sealed class Forecasts
    {
        private sealed class Wanted
        {
            public int Place;
            public readonly TaskCompletionSource<string> Made = new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);
        }

        // A block does one thing at a time if nothing else is said.
        private static readonly ExecutionDataflowBlockOptions Options = Program.Has("one-at-a-time")
            ? new ExecutionDataflowBlockOptions { BoundedCapacity = 2000 }
            : new ExecutionDataflowBlockOptions { BoundedCapacity = 2000, MaxDegreeOfParallelism = 24 };

        private readonly HttpClient http;
        private readonly ActionBlock<Wanted> block;

        public Forecasts(HttpClient http)
        {
            this.http = http;
            block = new ActionBlock<Wanted>(Make, Options);
        }

        public async Task<string> Ask(int place)
        {
            var wanted = new Wanted { Place = place };
            await block.SendAsync(wanted);
            return await wanted.Made.Task;
        }

        private async Task Make(Wanted wanted)
        {
            try
            {
                wanted.Made.SetResult(await http.GetStringAsync("http://" + Environment.GetEnvironmentVariable("ADDR_CENTRE") + "/forecasts/" + wanted.Place));
            }
            catch (HttpRequestException e)
            {
                wanted.Made.SetException(e);
            }
        }
    }
}
