console.log(JSON.stringify({content:Array(200000).fill({type:"text",text:"x"})}))
